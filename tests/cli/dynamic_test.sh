#!/usr/bin/env bash
# Runs whose precision gates choose, with one target and with several, and what schedule, cost, eval
# and compare say of them.
source "$(dirname "$0")/lib.sh"
small_recipe
sed -e '/^forward/d; /^backward/d' -e 's/^log_every.*/log_every = 1/' \
  -e 's/^batch_size.*/batch_size = 8/; s/^limit.*/limit = 64/' small.toml >dfq.toml
cat >>dfq.toml <<'TOML'
[precision.dynamic]
options = [[0, 0], [3, 6], [4, 8], [6, 12]]
weight = 4
target = 2.5
beta = 0.02
TOML
sed 's/^target.*/target = [1.5, 2.0, 2.5]/' dfq.toml >frac.toml
cat >>frac.toml <<'TOML'
epsilon = 100
window = 2
period = 3
TOML
executed=(--set precision.backend=integer)

"$bitcycle" train dfq.toml "${executed[@]}" --run-dir dfq -q >result.txt
grep -q 'DFQ 4w cp 2.5' result.txt || fail "the result does not name the target: $(cat result.txt)"
# Periods of three steps, windows of two: targets rise at the sixth and the twelfth of sixteen steps.
"$bitcycle" train frac.toml "${executed[@]}" --run-dir frac >result.txt 2>narration.txt
grep -q 'step 6  precision cp 1.5 % -> cp 2 %: the loss has settled' narration.txt ||
  fail "no stage is told: $(cat narration.txt)"
grep -q 'FracTrain 4w cp 1.5-2-2.5' result.txt || fail "the result does not name the stages"
grep -Eq '^ *12  cp 2 % -> cp 2.5 % ' result.txt || fail "no stage in the result: $(cat result.txt)"

expect 0 'cp 2 % -> cp 2.5 %' "$bitcycle" compare dfq frac
grep -q 'DFQ 4w cp 2.5' out.txt || fail "compare does not name both: $(cat out.txt)"
grep -q 'of runs with gates static 8/8' out.txt || fail "compare does not say against what"
"$bitcycle" compare dfq frac --json | grep -q '"to": "cp 2.5 %"' || fail "no stage in compare --json"

# What was spent is the log's; what was planned holds it.
number() { grep -oE "\"$2\": ?[0-9.e+-]+" "$1" | tail -1 | grep -oE '[0-9.e+-]+$'; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !((a - b)^2 <= (1e-9 * b)^2) }'; }
for run in dfq frac; do
  "$bitcycle" cost $run --json >spent.json
  for figure in gbitops gbitops_static; do
    near "$(number spent.json $figure)" "$(number $run/metrics.jsonl $figure)" ||
      fail "$run: $figure: $(cat spent.json)"
  done
  expect 0 '% of static 8/8' "$bitcycle" cost $run
  # Counted from the choices it is what the run has counted as it went; but for `paper` nothing is logged.
  for rule in macs bitcycle; do
    "$bitcycle" cost $run --json --counting $rule >counted.json
    "$bitcycle" cost $run.toml --steps 16 --json --counting $rule >planned.json
    awk -v least="$(number planned.json gbitops_least)" -v most="$(number planned.json gbitops_most)" \
      -v spent="$(number counted.json gbitops)" 'BEGIN { exit !(least <= spent && spent <= most) }' ||
      fail "$run: $rule is not within its bounds: $(cat counted.json planned.json)"
  done
  "$bitcycle" cost $run.toml --steps 16 --json >planned.json
  near "$(number planned.json gbitops_static)" "$(number spent.json gbitops_static)" ||
    fail "$run: static: $(cat planned.json spent.json)"
  awk -v least="$(number planned.json gbitops_least)" -v most="$(number planned.json gbitops_most)" \
    -v spent="$(number spent.json gbitops)" 'BEGIN { exit !(least <= spent && spent <= most) }' ||
    fail "$run: the cost is not within its bounds: $(cat planned.json spent.json)"

  # The bits that samples had on average, step by step, from the shares of the options: three
  # blocks, each with [skip, [3, 6], [4, 8], [6, 12]].
  grep '"type":"step"' $run/metrics.jsonl | sed -E 's/.*"choices":\[\[(.*)\]\]\}/\1/; s/\],\[/,/g' |
    awk -F, '{ a = e = s = 0; for (b = 0; b < 12; b += 4) { s += $(b + 1)
        a += 3 * $(b + 2) + 4 * $(b + 3) + 6 * $(b + 4); e += 6 * $(b + 2) + 8 * $(b + 3) + 12 * $(b + 4) }
      printf "%d,4,%.9f,%.9f,%.9f\n", NR - 1, a / 3, e / 3, s / 3 }' >expected.csv
  [[ $(wc -l <expected.csv) == 16 ]] || fail "$run: expected 16 logged steps"
  "$bitcycle" schedule --run $run --csv >found.csv
  [[ $(head -1 found.csv) == t,weight_bits,activation_bits,error_bits,skipped ]] || fail "$run: columns"
  tail -n +2 found.csv | awk -F, '{ printf "%d,%d,%.9f,%.9f,%.9f\n", $1, $2, $3, $4, $5 }' |
    diff expected.csv - || fail "$run: schedule --run"
  grep '"type":"step"' $run/metrics.jsonl |
    sed -E 's/.*"activation_bits":([0-9.e-]+),"error_bits":([0-9.e-]+).*/\1,\2/' |
    awk -F, '{ printf "%.9f,%.9f\n", $1, $2 }' | diff <(cut -d, -f3,4 expected.csv) - ||
    fail "$run: bits in metrics.jsonl"
  expect 0 'spent ' "$bitcycle" schedule --run $run
  "$bitcycle" schedule --run $run --svg run.svg 2>/dev/null
  grep -q '<svg' run.svg || fail "$run: no picture"
done
expect 0 'step 6 ' "$bitcycle" schedule frac.toml
expect 0 'cannot be reached' "$bitcycle" train dfq.toml --run-dir low --set steps=1 \
  --set precision.dynamic.options=cifar --set precision.dynamic.target=1
# Who wants no narration is told of it as well, and of nothing else.
"$bitcycle" train dfq.toml -q --run-dir quiet --set steps=1 --set precision.dynamic.options=cifar \
  --set precision.dynamic.target=1 >/dev/null 2>narration.txt
grep -q 'target: cp 1 % cannot be reached' narration.txt || fail "-q hides an unreachable target"
[[ $(wc -l <narration.txt) == 1 ]] || fail "-q narrates: $(cat narration.txt)"

# Evaluation: as the gates choose, and at bits that nobody chooses.
"$bitcycle" eval frac --bits current,max,8,fp --json >scores.json
score() { grep -A2 "\"bits\": \"$1\"" scores.json | grep -E '"(accuracy|loss)"' || fail "no score of $1"; }
[[ $(score current) == "$(score max)" ]] || fail "gates choose at max, too"
[[ $(score current) != "$(score 8)" ]] || fail "gates choose at 8 bits"
[[ $(score 8) != "$(score fp)" ]] || fail "8 bits are float"
"$bitcycle" eval frac --json >eval.json
[[ $(grep -c '"bits"' eval.json) == 5 ]] || fail "expected the gates' choice and each option: $(cat eval.json)"
for bits in 'as chosen' skip '[3, 6]' '[4, 8]' '[6, 12]'; do
  grep -qF "\"bits\": \"$bits\"" eval.json || fail "no score of $bits"
done
expect 0 'what the gates chose' "$bitcycle" eval frac
grep -q '"choices"' eval.json || fail "no choices in eval --json"
grep -q '"choices":\[\[' frac/metrics.jsonl || fail "no choices in the log"

# All candidates are simulated, and nothing else.
candidates=(--set 'precision.dynamic.form="all_candidates"' --set steps=2)
expect 0 'accuracy' "$bitcycle" train frac.toml "${candidates[@]}" --run-dir candidates
# What they cost is known beforehand, skipped blocks or not: the plan says what the layers have counted.
"$bitcycle" cost candidates --json >spent.json
"$bitcycle" cost frac.toml "${candidates[@]}" --json >planned.json
for bound in gbitops_least gbitops_most; do
  near "$(number planned.json $bound)" "$(number spent.json gbitops)" ||
    fail "all candidates: $bound: $(cat planned.json spent.json)"
done
expect 2 'precision.dynamic.form: expected "chosen" with precision.backend "integer"' \
  "$bitcycle" train frac.toml "${candidates[@]}" "${executed[@]}" --run-dir refused
expect 0 'note: simulating: the form "all_candidates" has no integer kernels' \
  "$bitcycle" train frac.toml "${candidates[@]}" --set precision.backend=auto --run-dir auto

# A step, its choices drawn as the run made them.
"$bitcycle" bench step --policy dynamic --model cifar_resnet8 --batch 8 --repeats 2 --skip 0,50 \
  --choices frac --json >bench.json
for key in step_ms static_step_ms static_activation_bytes ratio percent; do
  grep -q "\"$key\"" bench.json || fail "bench lacks $key"
done
expect 2 'has no meaning with --policy dynamic' "$bitcycle" bench step --policy dynamic --bits 3
expect 2 'has no meaning with --policy static' "$bitcycle" bench step --skip 25
expect 5 'cannot read ./metrics.jsonl' "$bitcycle" bench step --policy dynamic \
  --model cifar_resnet8 --choices .
"$bitcycle" train small.toml --set steps=1 --set epochs=0 --run-dir plain -q >/dev/null
expect 2 '--choices expects a run with precision.dynamic' "$bitcycle" bench step --policy dynamic \
  --model cifar_resnet8 --choices plain
expect 2 'no blocks' "$bitcycle" bench step --policy dynamic --model lstm_lm
