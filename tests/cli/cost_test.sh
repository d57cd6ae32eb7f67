#!/usr/bin/env bash
# What is said of cost beforehand, while it is spent and afterwards is one figure, whatever the batches.
source "$(dirname "$0")/lib.sh"
small_recipe

# costs SENTENCE: amount and share behind it, and the measures besides.
costs() { sed -nE "s/^($1)([^ ]+) GBitOPs, ([0-9.]+ %).*/\2, \3/p; /^(FracTrain|modelled energy)/p" out.txt; }

# agrees RECIPE SETTING...: a dry run, the run itself, and what is found of it again in a log that tells
# no more than how it ended.
agrees() {
  local settings=() setting
  for setting in "${@:2}"; do settings+=(--set "$setting"); done
  expect 0 'the run costs ' "$bitcycle" train "$1" "${settings[@]}" --dry-run
  costs 'the run costs ' >foretold.txt
  [[ $(wc -l <foretold.txt) == 3 ]] || fail "expected one cost of $*, found $(cat out.txt)"
  "$bitcycle" train "$1" "${settings[@]}" --run-dir run -q >/dev/null
  grep -vE '"type": ?"step"' run/metrics.jsonl >log.txt
  grep -E '"type": ?"step"' run/metrics.jsonl | tail -n 1 >>log.txt
  for _ in whole last; do
    expect 0 'spent ' "$bitcycle" cost run
    costs 'spent ' | diff foretold.txt - >diff.txt || fail "$*: foretold and spent: $(cat diff.txt)"
    cp log.txt run/metrics.jsonl
  done
  rm -r run
}

every='log_every=1'
agrees small.toml $every data.limit=60 data.batch_size=59 epochs=4
agrees small.toml $every data.limit=60 data.batch_size=13 steps=7 precision.per=epoch
agrees small.toml $every data.limit=60 data.batch_size=7 steps=7 optimizer.accumulate=3
# Stages that begin at deadlines begin within epochs.
agrees demo-pfq $every data.dataset=synthetic data.limit=100 data.batch_size=7 steps=30 \
  precision.backend=simulate 'precision.progressive.deadlines=[0.2,0.4,0.6]'
# Of a text, epochs end in a shorter window.
for _ in {1..20}; do echo 'It is a truth universally acknowledged.'; done >book.txt
cat >text.toml <<'TOML'
steps = 50
model = { name = "lstm_lm", hidden = 4 }
data = { dataset = "text", root = "book.txt", batch_size = 4, window = 35 }
precision = { forward = { schedule = "CR", min = 3, max = 8, cycles = 2 }, backward = 8 }
TOML
agrees text.toml $every
agrees text.toml $every model.name=transformer_lm model.heads=2 steps=9
