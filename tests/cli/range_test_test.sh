#!/usr/bin/env bash
# The range test: as a command, inside a run, and what the other commands say of such a run.
source "$(dirname "$0")/lib.sh"
small_recipe
# Blocks of two steps, and pictures that a network of this size learns at once.
quick=(--set steps=60 --set precision.range_test.block=2 --set precision.range_test.pairs=4
       --set precision.range_test.ready=0 --set precision.range_test.cycles=1)
sed 's/^forward = .*/forward = "auto"/' small.toml >auto.toml
plain=("$bitcycle" range-test auto.toml "${quick[@]}")
test=("${plain[@]}" --from 6)

# Results go to stdout, narration to stderr; nothing is written.
before=$(ls)
for backend in simulate integer auto; do
  "${test[@]}" --set precision.backend=$backend >result.txt 2>narration.txt
  grep -qE '^ +6 +[0-9.]+ ± [0-9.]+ % ' result.txt || fail "no accuracy at 6 bits: $(cat result.txt)"
  grep -qE '^verdict: from [678] to 8 bits' result.txt || fail "no verdict: $(cat result.txt)"
  grep -qE '^cost: [0-9]+ steps, ' result.txt || fail "no cost: $(cat result.txt)"
  grep -q 'precision 8/8 -> 6 and 8/8: 8 bits have learned enough' narration.txt ||
    fail "nothing is told: $(cat narration.txt)"
  grep -q 'warning: the test costs ' narration.txt || fail "a dear test is not told"
  rm result.txt narration.txt
done
[[ $(ls) == "$before" ]] || fail "range-test left files: $(ls)"
"${test[@]}" --json -q 2>/dev/null >one.json
"${test[@]}" --json -q 2>/dev/null >two.json
cmp one.json two.json || fail "two tests of one seed differ"
for key in lower_bits upper_bits share standard_error sure percent_of_run percent_of_64000_steps; do
  grep -q "\"$key\": " one.json || fail "no $key in: $(cat one.json)"
done
LC_ALL=C "${test[@]}" -q 2>/dev/null | grep -q '   6 |' || fail "no plot in ASCII"
"${test[@]}" --upper 0.9 -q 2>/dev/null >out.txt || fail "no upper bound"

# What cannot be tested.
expect 2 'expected a run of at least 180 steps' "$bitcycle" range-test small.toml --set steps=60

expect 2 '--from: expected less than the 4 bits of to, found 6' "${test[@]}" --to 4
expect 2 '--from: Value 0 not in range' "${plain[@]}" --from 0
expect 2 '--to' "${test[@]}" --to 33
expect 2 '--upper' "${test[@]}" --upper 2
expect 2 '--upper: expected at least the threshold' "${test[@]}" --upper 0.5
expect 2 'expected at least 2 bits with precision.scheme "wageubn-lite"' "${plain[@]}" --from 1 \
  --set precision.scheme=wageubn-lite
expect 2 'expected a recipe with quantized layers' "$bitcycle" range-test demo-float --set steps=500
expect 2 'found [precision.progressive]' "$bitcycle" range-test demo-pfq
expect 2 'found [precision.dynamic]' "$bitcycle" range-test demo-dfq
expect 2 'nothing takes the widths' "$bitcycle" range-test small.toml --set steps=500 \
  --set precision.weight=4 --set precision.activation=4
expect 2 'no-such' "$bitcycle" range-test no-such.toml
expect 0 'Examples:' "$bitcycle" range-test --help

# Inside a run: told, logged, in the summary, and known to whoever asks for the bits.
run=("$bitcycle" train auto.toml "${quick[@]}" --set precision.range_test.from=6)
"${run[@]}" --run-dir run >result.txt 2>narration.txt
grep -q 'auto cosine 6-8/8' result.txt || fail "the result does not name the test: $(cat result.txt)"
grep -q ' -> cosine ' result.txt || fail "no verdict in the result: $(cat result.txt)"
grep -q 'precision 8/8 -> 6 and 8/8' narration.txt || fail "the test is not told"
"$bitcycle" schedule --run run --csv >bits.csv
{ echo 8; echo 8; for b in 8 6 6 8 8 6 6 8; do echo $b; echo $b; done; } >expected.txt
sed 1d bits.csv | head -18 | cut -d, -f2 | diff expected.txt - || fail "schedule --run"
"$bitcycle" schedule --run run | grep -q 'as logged' && fail "the log contradicts the stages"
expect 0 'spent ' "$bitcycle" cost run
expect 0 'cosine' "$bitcycle" compare run
expect 0 'cosine' "$bitcycle" show run
"$bitcycle" report run -o report.html 2>/dev/null >/dev/null || fail "no report"
expect 0 'max (8)' "$bitcycle" eval run --bits max
# A run that is stopped in its test goes on to the same bytes.
timeout --signal=INT 0.5 "${run[@]}" --run-dir stopped -q >/dev/null 2>&1 || true
"${run[@]}" --run-dir stopped -q --resume >/dev/null
same_runs run stopped

# What is known beforehand.
expect 0 'a range test finds' "$bitcycle" schedule auto.toml --set steps=64000
"$bitcycle" schedule auto.toml --set steps=64000 --json | grep -q '"least_steps": 180' || fail "outlook"
expect 2 'a range test finds, so nobody knows them' "$bitcycle" schedule auto.toml --set steps=64000 --csv
expect 0 'bounds that its range test finds' "$bitcycle" cost auto.toml --set steps=64000
expect 2 'a first cycle of at least 180 steps' "$bitcycle" train auto.toml --set steps=640
