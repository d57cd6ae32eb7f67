#!/usr/bin/env bash
# A run whose gates choose the precision of each block for each sample, and what the commands say of it.
source "$(dirname "$0")/lib.sh"
small_recipe
sed '/^\[precision\]/,/^backward/d' small.toml >gated.toml
cat >>gated.toml <<'TOML'
[precision]
backend = "integer"
[precision.dynamic]
options = "cifar"
weight = 4
target = [1.5, 3.0]
epsilon = 100
window = 2
period = 3
TOML

"$bitcycle" train gated.toml --run-dir run >result.txt 2>narration.txt
grep -q 'cp 1.5 % of stage 1 cannot be reached' narration.txt || fail "no notice of the first target"
grep -q 'precision cp 1.5 % -> cp 3 %: the loss has settled' narration.txt || fail "no stage is told"
grep -q '"choices":\[\[' run/metrics.jsonl || fail "no choices in the log"
expect 0 'FracTrain' "$bitcycle" compare run
expect 0 'spent ' "$bitcycle" cost run
expect 0 'spent ' "$bitcycle" schedule --run run

# Without --bits: what the gates chose, and every option in their place.
"$bitcycle" eval run >eval.txt
for title in 'as chosen' '\[3, 6\]' '\[6, 12\]' 'what the gates chose'; do
  grep -q "$title" eval.txt || fail "eval lacks $title: $(cat eval.txt)"
done
"$bitcycle" eval run --json >eval.json
[[ $(grep -c accuracy eval.json) == 6 ]] || fail "expected six accuracies"
grep -q '"choices"' eval.json || fail "no choices in JSON"
expect 0 'accuracy' "$bitcycle" eval run --bits 8,fp,current

"$bitcycle" bench step --policy dynamic --model cifar_resnet8 --batch 8 --repeats 2 --skip 0,50 \
  --choices run --json >bench.json
for key in step_ms static_step_ms static_activation_bytes ratio percent; do
  grep -q "\"$key\"" bench.json || fail "bench lacks $key"
done
expect 2 'has no meaning with --policy dynamic' "$bitcycle" bench step --policy dynamic --bits 3
expect 2 'has no meaning with --policy static' "$bitcycle" bench step --skip 25
expect 5 'cannot read ./metrics.jsonl' "$bitcycle" bench step --policy dynamic \
  --model cifar_resnet8 --choices .
"$bitcycle" train small.toml --run-dir plain -q >/dev/null
expect 2 '--choices expects a run with precision.dynamic' "$bitcycle" bench step --policy dynamic \
  --model cifar_resnet8 --choices plain
expect 2 'no blocks' "$bitcycle" bench step --policy dynamic --model lstm_lm
