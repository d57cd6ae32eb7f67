#!/usr/bin/env bash
# eval prints the accuracy at each width; compare puts finished runs side by side.
source "$(dirname "$0")/lib.sh"
small_recipe
"$bitcycle" train small.toml --run-dir run -q >/dev/null
"$bitcycle" train small.toml --run-dir static -q --set precision.forward=8 >/dev/null

"$bitcycle" eval run --bits 3,4,6,8,fp --json >eval.json
for bits in 3 4 6 8 fp; do grep -q "\"bits\": \"$bits\"" eval.json || fail "no row for $bits"; done
[[ $(grep -c accuracy eval.json) == 5 ]] || fail "expected five accuracies"
# Of a static 8-bit run, executed in integers too, the upper bound is 8 and nothing else.
"$bitcycle" train small.toml --run-dir executed -q --set precision.forward=8 --set precision.backend=integer >/dev/null
for run in static executed; do
  [[ $("$bitcycle" eval $run --bits 8,max --json | grep -E 'accuracy|loss' | sort -u | wc -l) == 2 ]] ||
    fail "$run: 8 and max differ"
done
expect 0 'max (8)' "$bitcycle" eval run
expect 0 'at max (8) bits' "$bitcycle" show run
expect 0 'accuracy' "$bitcycle" eval run --bits 8 --split validation --checkpoint last
expect 0 'static 8/8' "$bitcycle" compare run static
expect 0 'CR 3-8/8' "$bitcycle" compare run static
"$bitcycle" compare run static --json | grep -q saving_percent || fail "no saving in JSON"
# Wherever GBitOPs stand, the rule by which they are counted stands too.
rule='GBitOPs by the counting rule "paper": every layer at the scheduled bits'
expect 0 "$rule" "$bitcycle" compare run static
"$bitcycle" compare run static --json | grep -q '"counting": "paper"' || fail "no rule in JSON"
expect 0 "$rule" "$bitcycle" train small.toml --run-dir run --resume -q

# Training again does only what is left to do: nothing.
before=$(stat -c %Y run/checkpoints/step-00000016/DONE)
"$bitcycle" train small.toml --run-dir run --resume -q >/dev/null
[[ $before == "$(stat -c %Y run/checkpoints/step-00000016/DONE)" ]] || fail "trained again"

# What backend = "auto" came to, and why.
expect 0 'note: simulating: layer conv1 has 17-bit errors; the integer kernels take 2 to 8 bits' \
  "$bitcycle" train small.toml --run-dir auto --set steps=1 \
  --set precision.backend=auto --set precision.backward=17
# Who insists on integers is warned of what is not computed in them, under -q too.
expect 0 'warning: precision.backend: not all is executed in integers' \
  "$bitcycle" train small.toml --run-dir insisted -q --set steps=1 \
  --set precision.backend=integer --set precision.backward=17
grep -q '"backend": "simulate"' auto/summary.json || fail "summary.json does not name the backend"
expect 0 'scalar path' env BITCYCLE_ISA=scalar "$bitcycle" bench step --model cifar_resnet8 \
  --batch 2 --repeats 1 --backend integer

"$bitcycle" bench step --model cifar_resnet8 --batch 8 --repeats 2 --json >bench.json
for key in step_ms fp32_step_ms ratio repeats threads gmacs peak_gmacs activation_bytes; do
  grep -q "\"$key\"" bench.json || fail "bench step --json lacks $key"
done
"$bitcycle" bench step --model cifar_resnet8 --batch 8 --repeats 1 --authors --json >bench.json
grep -q '"authors_ratio"' bench.json || fail "bench step --authors --json lacks authors_ratio"
expect 0 "the authors' way takes" "$bitcycle" bench step --model cifar_resnet8 --batch 8 --repeats 1 \
  --authors
"$bitcycle" bench schedule --model cifar_resnet8 --batch 8 --bits 3:4 --repeats 2 --json >bench.json
for key in cycle_ms static_ms saving_percent fp32_step_ms rows share; do
  grep -q "\"$key\"" bench.json || fail "bench schedule --json lacks $key"
done
expect 0 'saving' "$bitcycle" bench schedule --model cifar_resnet8 --batch 8 --bits 3:4 --repeats 1

# Averaged weights are a checkpoint of their own, which scores what the run said of it.
"$bitcycle" train small.toml --run-dir averaged -q --set averaging.start=0.5 \
  --set averaging.every_epochs=0.5 >out.txt
accuracy=$(sed -n 's/^averaged weights of 3 points: test accuracy //p' out.txt)
[[ -n $accuracy ]] || fail "train does not tell of averaged weights: $(cat out.txt)"
expect 0 "$accuracy" "$bitcycle" eval averaged --checkpoint averaged
expect 0 "averaged     accuracy $accuracy, step 16" "$bitcycle" show averaged
expect 0 "averaged weights of 3 points: test accuracy $accuracy, averaged" "$bitcycle" compare averaged run
expect 0 'loss' "$bitcycle" landscape averaged --checkpoint averaged --grid 3 --samples 32
[[ -n $(ls averaged/averaged/landscape/*.csv) ]] || fail "no landscape of averaged weights"
expect 0 "weights:" "$bitcycle" train small.toml --run-dir onward --set steps=1 --set model.weights=averaged/averaged
# Weights of a run that held out other samples are told of, those of one that held out the same are not.
expect 0 'run held out other samples of the same data' "$bitcycle" train small.toml --run-dir leaky \
  --set steps=1 --set seed=2 --set model.weights=run
"$bitcycle" train small.toml --run-dir clean --set steps=1 --set model.weights=run >out.txt 2>&1
! grep -q 'held out' out.txt || fail "the same split is taken for another: $(cat out.txt)"
expect 5 "the best checkpoint is taken: $PWD/run" "$bitcycle" train small.toml --run-dir onward-best \
  --set model.weights=run/checkpoints/best
expect 5 'there are no averaged weights in "run"' "$bitcycle" eval run --checkpoint averaged

# A run in training that makes a checkpoint at every step and keeps one can be evaluated meanwhile.
"$bitcycle" train small.toml --set epochs=1000 --set checkpoint.keep=1 --set checkpoint.every_epochs=0.001 \
  --set evaluation.every_epochs=0.25 --run-dir going -q >/dev/null 2>&1 &
trainer=$!
trap 'kill -KILL "$trainer" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 600); do [[ -d going/checkpoints ]] && break; sleep 0.1; done
for checkpoint in last best; do
  expect 0 'of the validation split' "$bitcycle" eval going --split validation --checkpoint $checkpoint
done
kill -KILL "$trainer"

# Likewise one whose checkpoints last for a fraction of the time that it takes to build the network: what was
# chosen before is gone after it. A stand-in for the trainer shows one after the other.
"$bitcycle" train small.toml --run-dir quick -q --set checkpoint.keep=16 --set checkpoint.every_epochs=0.001 >/dev/null
mkdir aside
mv quick/checkpoints/step-* aside
steps=(aside/step-*)
steps=("${steps[@]#aside/}")
[[ ${#steps[@]} == 16 ]] || fail "expected a checkpoint for each of 16 steps, found ${#steps[@]}"
turn_over() {
  local shown=${steps[0]}
  while true; do
    for step in "${steps[@]:1}" "${steps[0]}"; do
      mv "aside/$step" quick/checkpoints && mv "quick/checkpoints/$shown" aside || return
      shown=$step
      sleep 0.03
    done
  done
}
mv "aside/${steps[0]}" quick/checkpoints
turn_over 2>/dev/null &
trainer=$!
for _ in 1 2 3; do
  expect 0 'of the validation split' "$bitcycle" eval quick --split validation --checkpoint last
done
kill -0 "$trainer" || fail "the checkpoints were not turned over"
kill -KILL "$trainer"
wait "$trainer" 2>/dev/null || true
