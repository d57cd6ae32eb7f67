#!/usr/bin/env bash
# compare holds runs of every state, network and seed against each other, and says what it left out.
source "$(dirname "$0")/lib.sh"
small_recipe
train() { "$bitcycle" train small.toml --set steps=6 --set log_every=1 "${@:2}" --run-dir "$1" -q >/dev/null; }
train cpt-1
train static-1 --set precision.forward=8

# like RUN NEW 's/recipe/edit/' 's/summary/edit/': a run that differs from another in a few values.
like() {
  cp -r "$1" "$2"
  sed -i -E "$3" "$2/recipe.toml"
  sed -i -E "${4:-}" "$2/summary.json"
}
like cpt-1 cpt-2 's/^seed = .*/seed = 2/' 's/("accuracy": ).*,/\119.5,/'
like static-1 static-2 's/^seed = .*/seed = 2/' 's/("accuracy": ).*,/\112.25,/'

# One run each: a row for each run, with the network, the data and the keys in which they differ.
expect 0 'cifar_resnet8 on synthetic, 6 steps' "$bitcycle" compare cpt-1 static-1
grep -Eq '^precision\.forward +CR 3-8 x2 +cpt-1$' out.txt || fail "no differing key: $(cat out.txt)"
grep -Eq '^ +static 8 +static-1$' out.txt || fail "no other value: $(cat out.txt)"
grep -q 'seed' out.txt && fail "seeds that agree are said to differ"
grep -q 'against static-1' out.txt || fail "no baseline named: $(cat out.txt)"
[[ $(awk '{ print length }' out.txt | sort -n | tail -1) -le 110 ]] || fail "too wide: $(cat out.txt)"
expect 0 'against cpt-1' "$bitcycle" compare cpt-1 static-1 --baseline cpt-1
# Its name will do where one run alone has it.
mkdir deep
cp -r cpt-2 deep/only
expect 0 'against deep/only' "$bitcycle" compare deep/only static-2 --baseline only
grep -q 'static-2' out.txt || fail "the other run is gone: $(cat out.txt)"
mkdir deeper
cp -r cpt-1 deeper/only
expect 2 'is no run directory' "$bitcycle" compare deep/only deeper/only --baseline only
# A run that was given keeps its name also beside a directory of the same name that is no run.
mkdir only
rm -r deeper
expect 0 'against deep/only' "$bitcycle" compare deep/only static-2 --baseline only
rmdir only
# One that is a run is what was written.
cp -r static-1 only
expect 0 'Cost saved: against only' "$bitcycle" compare deep/only --baseline only
rm -r deep only

# Costs follow --baseline.
"$bitcycle" compare cpt-1 static-1 | grep -q 'Cost saved: against static at the same upper bits' || fail "static"
expect 0 'Cost saved: against static-1. Time saved: measured, against the same' \
  "$bitcycle" compare cpt-1 static-1 --baseline static-1
"$bitcycle" compare cpt-1 static-1 --baseline cpt-1 --json | grep -q '"cost_saved_of_baseline_percent": -' ||
  fail "static bits cost no more than cyclic ones"
# A baseline that is not among them joins them.
expect 0 'static-1' "$bitcycle" compare cpt-1 --baseline ./static-1
expect 2 'no run directory' "$bitcycle" compare cpt-1 --baseline nowhere

# Runs that differ in the seed are one row; the figures are those of the runs.
"$bitcycle" compare cpt-1 cpt-2 static-2 static-1 >out.txt
grep -Eq '^CR 3-8/8 +2 +[0-9.]+ % ± [0-9.]+ +[0-9.]+ +[-+][0-9.]+ ± [0-9.]+ ' out.txt ||
  fail "no row of a group: $(cat out.txt)"
"$bitcycle" compare cpt-1 cpt-2 static-2 static-1 --json >out.json
python=$(command -v python3) || { echo "no python3 to check the statistics"; python=; }
[[ -z $python ]] || python3 - <<'PYTHON' || fail "statistics: $(cat out.json)"
import json, math, statistics
found = json.load(open("out.json"))
score = {run["run"]: run["accuracy"] for run in found["runs"]}
cpt, static = found["groups"]
pairs = [score["cpt-1"] - score["static-1"], score["cpt-2"] - score["static-2"]]
def near(a, b): assert math.isclose(a, b, abs_tol=1e-9), (a, b)
near(cpt["mean"], (score["cpt-1"] + score["cpt-2"]) / 2)
near(cpt["standard_deviation"], statistics.stdev([score["cpt-1"], score["cpt-2"]]))
near(cpt["difference"]["value"], statistics.mean(pairs))
near(cpt["difference"]["standard_error"], statistics.stdev(pairs) / math.sqrt(2))
assert cpt["difference"]["by"] == "same-seed pairs" and "difference" not in static
PYTHON

# Other seeds are compared by Welch's.
like static-1 static-3 's/^seed = .*/seed = 3/'
like static-2 static-4 's/^seed = .*/seed = 4/'
expect 0 "(W: Welch's)" "$bitcycle" compare cpt-1 cpt-2 static-3 static-4
"$bitcycle" compare cpt-1 cpt-2 static-3 static-4 --json | grep -q '"by": "Welch"' || fail "Welch"

# Times of other networks, lengths, threads are not compared.
like cpt-1 wider 's/"cifar_resnet8"/"cifar_resnet14"/'
expect 0 'Times are compared between runs of one network' "$bitcycle" compare wider static-1
"$bitcycle" compare wider static-1 --json | grep -q '"time_saved_percent": null' || fail "time"
grep -Eq '^CR 3-8/8 +[a-z]+ +cifar_resnet14 ' out.txt || fail "no model: $(cat out.txt)"
like cpt-1 longer 's/^steps = .*/steps = 7/' 's/("steps": )6/\17/'
"$bitcycle" compare longer static-1 --json | grep -q '"time_saved_percent": null' || fail "length"
train one --set threads=1
train two --set threads=2
"$bitcycle" compare one two --json >out.json
grep -q '"machine": "1 threads of ' out.json || fail "no machine: $(cat out.json)"
grep -q '"time_saved_percent": null' out.json || fail "times of one thread and two compared"

# A language model beside a network for pictures: no score is held against another.
for split in train valid test; do
  mkdir -p words
  for i in $(seq 30); do echo "the cat sees a dog"; done >words/ptb.$split.txt
done
printf 'steps = 2\n[model]\nname = "lstm_lm"\nhidden = 4\n[data]\ndataset = "ptb"\nroot = "words"\nbatch_size = 2\nwindow = 5\n' >language.toml
"$bitcycle" train language.toml --run-dir lm -q >/dev/null
expect 0 'perplexity ' "$bitcycle" compare lm static-1
"$bitcycle" compare lm static-1 --json | grep -q '"difference"' && fail "unlike scores compared"
# Keys that only one of them has follow from the network: they are counted.
expect 0 'model.name' "$bitcycle" compare lm static-1
grep -Eq '^[0-9]+ more keys ' out.txt && ! grep -q '^model.hidden' out.txt || fail "keys: $(cat out.txt)"
counted=$(sed -nE 's/^([0-9]+) more keys .*/\1/p' out.txt) brief=$(grep -cE '^[a-z_]+(\.[a-z_]+)* ' out.txt)
expect 0 'model.hidden' "$bitcycle" compare lm static-1 --all-keys
! grep -q 'more keys' out.txt || fail "more than all keys: $(cat out.txt)"
[[ $(grep -cE '^[a-z_]+(\.[a-z_]+)* ' out.txt) == $((brief + counted)) ]] || fail "$counted are not the rest: $(cat out.txt)"

# Unfinished, damaged and empty ones are told in words.
cp -r cpt-1 unfinished && rm unfinished/summary.json
expect 0 'step 6 of 6' "$bitcycle" compare unfinished static-1
expect 0 'unfinished: step 6 of 6' "$bitcycle" compare unfinished cpt-2 static-1 static-2
mkdir empty
expect 0 'empty: no run has begun here' "$bitcycle" compare empty static-1
expect 2 'there is no run directory "nowhere"' "$bitcycle" compare nowhere static-1
cp -r cpt-1 damaged && echo '{' >damaged/summary.json
expect 0 'damaged: damaged/summary.json' "$bitcycle" compare damaged static-1
expect 4 'damaged/summary.json: expected what a finished run came to' "$bitcycle" compare damaged
! grep -q 'json.exception' out.txt || fail "an exception of the library: $(cat out.txt)"
rm damaged/summary.json && ln -s summary.json damaged/summary.json
expect 4 'Too many levels of symbolic links' "$bitcycle" compare damaged
! grep -q 'filesystem error' out.txt || fail "an exception of the library: $(cat out.txt)"
rm damaged/recipe.toml
expect 4 'damaged/recipe.toml is missing' "$bitcycle" compare damaged
expect 2 'no run directory' "$bitcycle" compare empty
"$bitcycle" compare empty unfinished static-1 --json >out.json
grep -q '"state": "unreadable"' out.json && grep -q '"state": "unfinished"' out.json || fail "states"

# An unfinished run under "auto" is carried out by what its log says; one that has not begun, by nothing.
cp -r unfinished going && sed -i 's/backend = "simulate"/backend = "auto"/' going/recipe.toml
expect 0 'simulate' "$bitcycle" compare going static-1
"$bitcycle" compare going static-1 --json | grep -q '"backend": "auto"' && fail "auto carries nothing out"
mkdir waiting && cp going/recipe.toml waiting/
"$bitcycle" compare waiting static-1 --json | grep -q '"backend": null' || fail "a backend before the start"

# Folders of runs, and sweeps in them.
mkdir -p folder/deeper
cp -r cpt-1 static-1 folder/ && cp -r cpt-2 static-2 folder/deeper/
"$bitcycle" compare folder/cpt-1 folder/deeper/cpt-2 folder/deeper/static-2 folder/static-1 >named.txt
"$bitcycle" compare folder | diff named.txt - || fail "a folder is not its runs"
expect 2 'no folder of any' "$bitcycle" compare empty
printf 'recipe = "small.toml"\n[set]\nsteps = 2\ndata.limit = 64\n[variants.a]\n[variants.b]\nprecision.forward = 8\n' >s.toml
"$bitcycle" sweep s.toml --run-dir folder/one -q >/dev/null
expect 0 'folder/static-1' "$bitcycle" compare folder --json
grep -q '"name": "a"' out.txt || fail "no group of the sweep: $(cat out.txt)"
expect 2 'Rows are: a, b' "$bitcycle" compare folder/one --baseline nope
cp -r folder/one folder/two
expect 0 '"name": "one/a"' "$bitcycle" compare folder --json
grep -q '"baseline": "two/b"' out.txt || fail "groups of two sweeps are mixed: $(cat out.txt)"
