#!/usr/bin/env bash
# What a newcomer types: names of recipes, help, options of other programs; looking before running.
source "$(dirname "$0")/lib.sh"
small_recipe

# Every command explains itself, with examples of its own.
all_commands >commands.txt
for command in train watch 'data get' 'bench step'; do
  grep -qxF "$command" commands.txt || fail "expected $command among the commands, found $(cat commands.txt)"
done
while read -r command; do
  # shellcheck disable=SC2086
  expect 0 "bitcycle $command" "$bitcycle" $command --help
  grep -qE '^Examples?:' out.txt || fail "no examples in $command --help"
done <commands.txt
expect 0 'bitcycle train runs/demo-cpt --resume' "$bitcycle" help train
grep -q -- '--accept-changes' out.txt || fail "--accept-changes is not explained"
expect 0 'bitcycle data get cifar10' "$bitcycle" help data get
expect 0 'Examples:' "$bitcycle" help
expect 2 'Did you mean "train"?' "$bitcycle" help trian

# Recipes that ship, by name and from anywhere.
expect 0 'own-pictures' "$bitcycle" recipes
expect 0 '"name": "cpt/cifar100-resnet74-cpt-3-8"' "$bitcycle" recipes --json
"$bitcycle" recipes demo-cpt >mine.toml
expect 0 'the run costs ' "$bitcycle" cost mine.toml
expect 0 'the run costs ' "$bitcycle" cost demo-cpt
expect 0 'the run costs ' "$bitcycle" cost cifar100-resnet74-cpt-3-8
expect 0 'the bits that it plans' "$bitcycle" schedule demo-cpt
expect 2 'Did you mean "demo-cpt"?' "$bitcycle" train demo-ctp
expect 2 'bitcycle recipes' "$bitcycle" train no-such
expect 2 'neither a file nor the name' "$bitcycle" recipes no-such
expect 2 'excludes' "$bitcycle" recipes demo-cpt --json
mkdir demo-cpt  # a directory of that name is no run
expect 0 'the run costs ' "$bitcycle" cost demo-cpt
expect 0 'test accuracy' "$bitcycle" train demo-cpt -q --set steps=2 --set data.dataset=synthetic \
  --set data.limit=64 --set data.batch_size=16
[[ -e runs/demo-cpt/summary.json ]] || fail "no run below runs/"

# --set where a recipe is taken.
"$bitcycle" cost demo-cpt --json >a.json
"$bitcycle" cost demo-cpt --set precision.forward=3 --json >b.json
! cmp -s a.json b.json || fail "cost --set changes nothing"
expect 2 'Did you mean' "$bitcycle" cost demo-cpt --set precision.forwrd=3
expect 2 '--set does not apply' "$bitcycle" cost cifar_resnet20 --set model.hidden=3
expect 2 'which has been trained' "$bitcycle" cost runs/demo-cpt --set steps=3
expect 2 '--set applies to recipes' "$bitcycle" schedule CR --set steps=3
expect 0 'weights 3,' "$bitcycle" schedule demo-cpt --set precision.forward=3

# Options of other programs are answered with the command line to write here.
# answered "COMMAND LINE" ARGUMENT...: that is suggested in place of the arguments, and nothing else.
answered() {
  local line=$1
  shift
  expect 2 "  Write $line. Run with --help" "$bitcycle" "$@"
}
answered 'bitcycle train small.toml --set steps=3' train small.toml --steps 3
answered 'bitcycle train small.toml --set steps=3' train --steps 3 small.toml
answered 'bitcycle train small.toml --set epochs=2' train small.toml --epochs=2
answered 'bitcycle train small.toml --set optimizer.lr=-0.1' train small.toml --lr -0.1
answered 'bitcycle train small.toml --set optimizer.lr=VALUE -q' train small.toml --lr -q
answered 'bitcycle train small.toml --set optimizer.lr=0.1 --set epochs=3 --set data.batch_size=64' \
  train small.toml --lr 0.1 --epochs 3 --batch-size 64
answered 'bitcycle train small.toml --run-dir out' train small.toml --output-dir out
answered 'bitcycle cost small.toml --set data.batch_size=64 --per-layer' cost small.toml --batch-size 64 --per-layer
answered 'bitcycle train RECIPE --set seed=1' train --seed 1
answered 'bitcycle train RECIPE' train --config
answered 'bitcycle train small.toml' --config small.toml
answered 'bitcycle schedule small.toml' schedule --config small.toml
answered 'bitcycle train small.toml --set optimizer.lr=0.1' --lr 0.1 train small.toml
# What was understood is kept, in order; of a run and a recipe the run, which has its own.
answered 'bitcycle train small.toml --set optimizer.lr=0.1 --run-dir foo' \
  train --config small.toml --lr 0.1 --run-dir foo
answered 'bitcycle train small.toml --set epochs=3 --set seed=2' train --epochs 3 --config small.toml --seed=2
answered 'bitcycle train runs/x --resume' train small.toml --resume runs/x
answered 'bitcycle train runs/x --resume' train small.toml --resume=runs/x
answered 'bitcycle train runs/x --resume' train --resume runs/x --config small.toml
answered 'bitcycle train runs/x --set steps=9 --resume' train small.toml --steps 9 --resume runs/x
answered 'bitcycle train runs/x --resume --set epochs=20 --set seed=3' \
  train small.toml --resume runs/x --epochs 20 --set seed=3

# What nothing is known of is left out with its value, and named.
expect 2 'There is no --foo, --bar. Write bitcycle train small.toml --set epochs=1 --set data.root=pics. ' \
  "$bitcycle" train small.toml --foo 1 --epochs 1 --bar=2 --data-root pics
answered 'bitcycle train small.toml --set data.batch_size=16 --set data.workers=2' train small.toml -b 16 -j 2

# Commands without --set are not told to use it.
for typed in 'eval run --data-dir d' 'eval run --batch-size 3' 'predict run p --data-dir d' 'compare a b --lr 3' \
  'bench step --lr 3' 'eval --config small.toml' 'train small.toml --nonsense'; do
  # shellcheck disable=SC2086
  expect 2 'Run with --help' "$bitcycle" $typed
  ! grep -q 'Write ' out.txt || fail "a hint at what $typed does not have: $(cat out.txt)"
done
expect 2 'The run decides data.root: see its recipe.toml' "$bitcycle" eval run --data-dir d

# What is suggested can be pasted.
pasted() {
  local line
  "$bitcycle" "$@" 2>hint.txt && fail "no mistake: $*"
  line=$(sed -nE 's/^  Write bitcycle (.*)\. Run with --help.*/\1/p' hint.txt)
  [[ -n $line ]] || fail "nothing to paste: $(cat hint.txt)"
  expect 0 'nothing was written' bash -c "'$bitcycle' $line"
}
cp small.toml "it's mine.toml"
pasted train "it's mine.toml" --dry-run --bits 'CR 5:7 x2'
[[ $(grep -A2 '^weights and activations' out.txt | tail -n 2 | cut -c 1 | tr -d '\n') == 76 ]] || fail "the bits that were pasted are not planned: $(cat out.txt)"
pasted train --dry-run --config "it's mine.toml" --data-dir 2024 --steps=2 --run-dir "a b"
pasted --config small.toml --dry-run --bits 'static 4 until 0.5, CR 3:8 x4' --set data.limit=64
rm hint.txt "it's mine.toml"

expect 2 'Write bitcycle eval RUN.' "$bitcycle" test runs/x
expect 2 'Write bitcycle predict RUN PICTURE.' "$bitcycle" infer runs/x

# Looking before running: all of it is told, and no file changes.
files() { find . -mindepth 1 -not -name out.txt -not -name 'files-*' -printf '%p %s %T@ %y\n' | sort; }
files >files-before
expect 0 'nothing was written' "$bitcycle" train small.toml --dry-run
for text in 'layer1' 'the bits that it plans' 'counting rule' 'memory: ' 'a step: ' 'take about '; do
  grep -qF "$text" out.txt || fail "--dry-run does not tell \"$text\": $(cat out.txt)"
done
files >files-after
diff files-before files-after || fail "--dry-run changed files"
# What is said beforehand of cost is what the run then comes to, the smaller last batch of an epoch included.
expect 0 'run: 10 steps of 32 samples, at the end of epochs fewer: ' \
  "$bitcycle" train small.toml --set data.limit=130 --dry-run
foretold=$(sed -nE 's/^the run costs ([0-9.e+]+) GBitOPs.*/\1/p' out.txt)
[[ -n $foretold ]] || fail "--dry-run foretells no cost: $(cat out.txt)"
"$bitcycle" train small.toml --set data.limit=130 --run-dir partial -q >out.txt
grep -qF " $foretold " out.txt || fail "expected $foretold GBitOPs, found $(cat out.txt)"
rm -r partial
# So are the other measures of a run's cost.
partial=(train small.toml --set data.limit=130 --set precision.forward=8)
"$bitcycle" "${partial[@]}" --dry-run | grep -E '^FracTrain|^modelled energy' >foretold.txt
"$bitcycle" "${partial[@]}" --run-dir partial -q >/dev/null
"$bitcycle" cost partial | grep -E '^FracTrain|^modelled energy' | diff foretold.txt - ||
  fail "cost counts full batches"
[[ $(wc -l <foretold.txt) == 2 ]] || fail "other measures are missing"
rm -r partial foretold.txt
expect 0 'when they rise, only a run can tell' "$bitcycle" train demo-pfq --dry-run \
  --set data.dataset=synthetic --set data.batch_size=8
expect 0 'gates choose' "$bitcycle" train demo-dfq --dry-run --set data.dataset=synthetic \
  --set data.batch_size=8
expect 2 'unknown key' "$bitcycle" train small.toml --dry-run --set optimizer.momentun=1
expect 5 'nowhere' "$bitcycle" train small.toml --dry-run --set model.weights=nowhere
expect 3 'cifar10 was not found' "$bitcycle" train cifar10-resnet20-cpt --dry-run --set data.root=nowhere
files >files-after
diff files-before files-after || fail "--dry-run changed files"
"$bitcycle" train small.toml -q --run-dir done >/dev/null
expect 0 'already holds a run' "$bitcycle" train small.toml --dry-run --run-dir done

# A run that never wrote a checkpoint is started again, with whatever recipe.
mkdir -p begun && cp done/recipe.toml begun/
expect 0 'test accuracy' "$bitcycle" train small.toml -q --run-dir begun --set optimizer.lr=0.01
expect 2 'already holds a run' "$bitcycle" train small.toml -q --run-dir begun
