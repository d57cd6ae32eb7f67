#!/usr/bin/env bash
# A run whose precision follows its loss, and what schedule, cost, eval and compare say of it.
source "$(dirname "$0")/lib.sh"
small_recipe
sed '/^\[precision\]/,/^backward/d' small.toml >staged.toml
cat >>staged.toml <<'TOML'
[precision.progressive]
forward = [3, 4, 8]
backward = [6, 6, 8]
epsilon = 100
window = 2
period = 3
TOML

# Periods of three steps, windows of two: stages begin at the sixth and the twelfth of sixteen steps.
"$bitcycle" train staged.toml --run-dir run >result.txt 2>narration.txt
grep -q 'step 6  precision 3/6 -> 4/6: the loss has settled' narration.txt || fail "no stage is told"
grep -q 'PFQ 3-4-8/6-6-8' result.txt || fail "the result does not name the stages"
grep -Eq '^ *12  4/6 -> 8/8 +[0-9.e-]+ +30 ' result.txt || fail "no stage in the result: $(cat result.txt)"
expect 0 '4/6 -> 8/8' "$bitcycle" compare run
"$bitcycle" compare run --json | grep -q '"threshold": 100.0' || fail "no stage in compare --json"

# The bits of every step, between the logged ones too.
{
  echo t,weight_bits,activation_bits,error_bits
  for t in {0..15}; do
    if ((t < 6)); then echo $t,3,3,6; elif ((t < 12)); then echo $t,4,4,6; else echo $t,8,8,8; fi
  done
} >expected.csv
"$bitcycle" schedule --run run --csv | diff expected.csv - || fail "schedule --run"
expect 0 'spent ' "$bitcycle" schedule --run run
"$bitcycle" schedule --run run --json | grep -q '"mean_error_bits":6.5' || fail "mean error bits"
"$bitcycle" schedule --run run --svg run.svg 2>/dev/null
grep -q '<svg' run.svg || fail "no picture"

# Of a run with a schedule they are the schedule's, and so they are of its recipe.
"$bitcycle" train small.toml --run-dir cyclic --set steps=16 -q >/dev/null
"$bitcycle" schedule 'CR 3:8 x2' --steps 16 --csv | cut -d, -f1,3 >expected.csv
"$bitcycle" schedule --run cyclic --csv | cut -d, -f1,2 | sed 's/weight_bits/bits/' |
  diff expected.csv - || fail "schedule --run of a schedule"
sed 's/^epochs = 2/steps = 16/' small.toml >steps.toml
"$bitcycle" schedule steps.toml --csv | cut -d, -f1,2 | sed 's/weight_bits/bits/' |
  diff expected.csv - || fail "schedule RECIPE"
expect 0 'drawn as 800 steps' "$bitcycle" schedule small.toml

# A log that contradicts the recipe counts.
cp -r cyclic changed
sed -i 's/^forward = .*/forward = 8/' changed/recipe.toml
expect 0 'as logged' "$bitcycle" schedule --run changed

# What is known of stages beforehand: when they may begin, and bounds of the cost that hold.
expect 0 'step 6 ' "$bitcycle" schedule staged.toml
expect 2 'nobody knows them' "$bitcycle" schedule staged.toml --csv
expect 2 '--max does not apply' "$bitcycle" schedule staged.toml --max 4
expect 2 'no run directory' "$bitcycle" schedule --run nowhere
"$bitcycle" schedule staged.toml --json | grep -q '"earliest_period": 4' || fail "no earliest period"
# A deadline that comes before the loss can have settled begins a stage, and the next one's window with it.
sed 's/^epochs = 2/steps = 60/' staged.toml >deadlines.toml
"$bitcycle" schedule deadlines.toml --set precision.progressive.deadlines=[0.05,0.5] >out.txt
grep -Eq '^ *2 .* 0.05 of the run +0.05 of the run' out.txt || fail "no deadline: $(cat out.txt)"
grep -Eq '^ *3 .* step 9 +0.5 of the run' out.txt || fail "no step behind it: $(cat out.txt)"
expect 0 'GBitOPs a step' "$bitcycle" cost staged.toml
expect 0 'depends on when' "$bitcycle" cost staged.toml
expect 0 'the run costs ' "$bitcycle" cost steps.toml
expect 2 '--bits does not apply' "$bitcycle" cost staged.toml --bits 8
number() { grep -oE "\"$2\": [0-9.e+-]+" "$1" | head -1 | cut -d' ' -f2; }
"$bitcycle" cost staged.toml --steps 16 --json >planned.json
"$bitcycle" cost run --json >spent.json
# No plateau came later than its window, so the run cost the most that the recipe allows.
awk -v least="$(number planned.json gbitops_least)" -v most="$(number planned.json gbitops_most)" \
  -v spent="$(number spent.json gbitops)" \
  'BEGIN { exit !(least < spent && (spent - most)^2 < (1e-9 * most)^2) }' ||
  fail "the run's cost is not within its bounds: $(cat planned.json spent.json)"
# A schedule's cost is known.
"$bitcycle" cost steps.toml --json >planned.json
[[ $(number planned.json gbitops_least) == "$(number planned.json gbitops_most)" ]] || fail "bounds"

# Evaluated at the bits of its moment, a checkpoint of the first stage is one of 3 bits.
"$bitcycle" train staged.toml --run-dir kept --set checkpoint.keep=9 -q >/dev/null
for pair in '4 3' '8 4' '16 8'; do
  set -- $pair
  [[ $("$bitcycle" eval kept --checkpoint "$1" --bits current,"$2" --json |
    grep -E 'accuracy|loss' | sort -u | wc -l) == 2 ]] || fail "current at step $1 is not $2 bits"
done

# A run that is too short for its stages is told, not refused; one with deadlines reaches them.
expect 0 'the last of 3 stages cannot be reached' \
  "$bitcycle" train staged.toml --run-dir short --set steps=6
expect 0 'its deadline has come' "$bitcycle" train staged.toml --run-dir late \
  --set precision.progressive.epsilon=1e-9 --set 'precision.progressive.deadlines=[0.5, 0.75]'
"$bitcycle" schedule --run late --csv | grep -qx '8,4,4,6' || fail "no stage at its deadline"
"$bitcycle" schedule --run late --csv | grep -qx '11,4,4,6' || fail "a stage before its deadline"
