#!/usr/bin/env bash
# Files of a run that are damaged, missing, or named in bytes that are not UTF-8.
source "$(dirname "$0")/lib.sh"
small_recipe
"$bitcycle" train small.toml --set steps=4 --set data.limit=32 --run-dir run -q >/dev/null

# compare names the file that is at fault.
damaged() {  # damaged FILE CONTENT WORDS
  rm -rf damaged && cp -r run damaged
  printf '%s' "$2" >"damaged/$1"
  expect 0 "$3" "$bitcycle" compare run damaged
  [[ $1 == summary.json ]] || ! grep -q summary.json out.txt || fail "$1: $(cat out.txt)"
}
damaged recipe.toml 'epochs = ' 'damaged/recipe.toml:1:'
damaged recipe.toml 'epochz = 1' 'damaged/recipe.toml:1:'
damaged summary.json '{' 'damaged/summary.json'
damaged summary.json '{"gbitops": 1}' 'damaged/summary.json'
damaged summary.json '{"test_of_best": {"accuracy": "x"}}' 'damaged/summary.json'
damaged timing.jsonl '{"step": "three", "seconds": 1}' 'damaged/timing.jsonl:1:'
damaged timing.jsonl $'{"step": 3, "seconds": 1}\n{"step": 4, "sec' 'damaged/timing.jsonl:2:'
damaged metrics.jsonl 'nonsense' 'damaged'  # has no part in a comparison
rm -rf damaged && cp -r run damaged && rm damaged/timing.jsonl
expect 0 'damaged' "$bitcycle" compare run damaged
rm damaged/summary.json
expect 0 'step 4 of 4' "$bitcycle" compare run damaged
rm damaged/recipe.toml
expect 0 'damaged: damaged/recipe.toml is missing' "$bitcycle" compare run damaged
expect 4 'damaged/recipe.toml is missing' "$bitcycle" compare damaged

# A resume cuts off half a line of timing.jsonl, which a machine that lost its power may leave.
cp -r run torn && rm torn/summary.json && printf '{"step": 9, "sec' >>torn/timing.jsonl
expect 0 'accuracy' "$bitcycle" train torn --resume -q

# Bytes that are not UTF-8 become U+FFFD in JSON, in every command that prints paths.
odd=$'run-\xff'
cp -r run "$odd"
shown=$'run-\xef\xbf\xbd'
"$bitcycle" compare "$odd" --json >out.json && grep -qF "\"run\": \"$shown\"" out.json ||
  fail "compare --json: $(cat out.json)"
"$bitcycle" eval "$odd" --bits 8 --json >out.json && grep -qF "\"run\": \"$shown\"" out.json ||
  fail "eval --json: $(cat out.json)"
mkdir "$odd-data"
"$bitcycle" data --root "$odd-data" --json >out.json && grep -qF "$shown-data" out.json ||
  fail "data --json: $(cat out.json)"
"$bitcycle" train small.toml --set steps=4 --set data.limit=32 --run-dir $'again-\xff' -q >/dev/null
same_runs run $'again-\xff'
