#!/usr/bin/env bash
# landscape: left alone, killed, stopped, on any number of threads the same files; drawn and refused.
source "$(dirname "$0")/lib.sh"
small_recipe
train() { "$bitcycle" train small.toml --run-dir "$1" -q --set steps=4 --set data.limit=64 "${@:2}" >/dev/null; }
train cpt
train static --set precision.forward=8 --set precision.backend=integer
few=(--grid 5 --samples 32)
name=bits8-grid5-range1-samples32-seed123

# Two runs side by side: a row each, files with the runs, pictures here.
"$bitcycle" landscape cpt static "${few[@]}" >table.txt 2>narration.txt
grep -q 'point 25 of 25' narration.txt || fail "no progress: $(cat narration.txt)"
grep -q ' left' narration.txt || fail "no time left: $(cat narration.txt)"
[[ $(grep -cE '^(cpt|static) ' table.txt) == 2 ]] || fail "no row: $(cat table.txt)"
for run in cpt static; do
  for kind in json csv; do [[ -s $(echo $run/landscape/step*-$name.$kind) ]] || fail "no $kind of $run"; done
  [[ ! -e $(echo $run/landscape/*.points.jsonl) ]] || fail "the log stays"
done
head -c 8 landscape.png | od -An -tx1 | grep -q '89 50 4e 47' || fail "no PNG"
for word in cpt static '</svg>'; do grep -q "$word" landscape.svg || fail "no $word in the picture"; done

# The middle is what eval finds of the same samples.
"$bitcycle" landscape static --grid 3 --samples all --json -q >landscape.json
"$bitcycle" eval static --bits 8 --split train --json >eval.json
for metric in loss accuracy; do
  found=$(grep -m1 "\"$metric\"" landscape.json | tr -d ' ,')
  [[ -n $found && $found == "$(grep -m1 "\"$metric\"" eval.json | tr -d ' ,')" ]] ||
    fail "the centre is not eval's $metric: $(cat landscape.json eval.json)"
done

# What is stored is drawn at once, without LibTorch, in other ways too.
mkdir alone && cp "$(realpath "$(dirname "$bitcycle")")/bitcycle" alone
alone/bitcycle landscape cpt static "${few[@]}" 2>/dev/null | diff table.txt - || fail "another table"
alone/bitcycle landscape cpt "${few[@]}" --levels 0.5:1:9 -o one.svg --json >one.json
grep -q '"area"' one.json || fail "no area: $(cat one.json)"
[[ -e one.svg && ! -e one.png && ! -e one.svg.png ]] || fail "not the one picture that was named"
expect 0 'no level of the contours' alone/bitcycle landscape cpt "${few[@]}" --levels 1e5:1:1.00001e5 -o none
expect 0 'area of loss < 3' alone/bitcycle landscape cpt "${few[@]}" --level 3 -o level
expect 2 'needs LibTorch' alone/bitcycle landscape cpt "${few[@]}" --seed 5

# Other choices are kept apart, and change nothing.
cp -r cpt before
"$bitcycle" landscape cpt "${few[@]}" --bits 0 --seed 5 -q >/dev/null
[[ -e $(echo cpt/landscape/step*-bitsfp-grid5-range1-samples32-seed5.json) ]] || fail "not apart"
for file in before/landscape/*; do cmp "$file" "cpt/landscape/$(basename "$file")"; done

# The same bytes on one thread and on two, killed again and again, and stopped by Ctrl-C.
same_landscapes() { diff -r "cpt/landscape" "$1/landscape" || fail "$1 differs"; }
again() { rm -rf "$1"; cp -r cpt "$1"; rm -r "$1/landscape"; }
again threads
for seed in 123 5; do
  [[ $seed == 5 ]] && more=(--bits fp) || more=()
  OMP_NUM_THREADS=2 "$bitcycle" landscape threads "${few[@]}" --seed $seed "${more[@]}" -q >/dev/null
done
same_landscapes threads
log() { cat "$1"/landscape/*.points.jsonl 2>/dev/null | wc -l; }
wait_for_points() { while kill -0 "$2" 2>/dev/null && [[ $(log "$1") -lt $3 ]]; do sleep 0.01; done; }
again killed
for points in 1 4 11 20; do
  "$bitcycle" landscape killed "${few[@]}" -q >/dev/null 2>&1 &
  pid=$!
  wait_for_points killed $pid $points
  kill -9 $pid 2>/dev/null || true
  wait $pid 2>/dev/null || true
done
"$bitcycle" landscape killed "${few[@]}" -q >/dev/null
"$bitcycle" landscape killed "${few[@]}" --bits fp --seed 5 -q >/dev/null
same_landscapes killed

# As many processes as threads, each on a core of its own where the run has such; they end with the
# first, however that ends.
again many
makers() { pgrep -P "$1" | wc -l; }
cores() { sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$1/status"; }
OMP_NUM_THREADS=2 "$bitcycle" landscape many --grid 301 --samples 64 -q >/dev/null 2>&1 &
pid=$!
wait_for_points many $pid 3
[[ $(makers $pid) == 1 ]] || fail "expected one process beside the first, found $(makers $pid)"
maker=$(pgrep -P $pid)
[[ $(cores $pid) == "$(cores $$)" || $(cores $maker) != "$(cores $pid)" ]] ||
  fail "both processes are bound to core $(cores $pid)"
kill -9 $pid
wait $pid 2>/dev/null || true
for ((i = 0; i < 100; ++i)); do [[ -e /proc/$maker && $(cut -d' ' -f3 /proc/$maker/stat) != Z ]] && sleep 0.05; done
[[ ! -e /proc/$maker || $(cut -d' ' -f3 /proc/$maker/stat) == Z ]] || fail "a process goes on without the first"

# A terminal's Ctrl-C reaches all of its processes.
again stopped
setsid env --default-signal=INT "$bitcycle" landscape stopped --grid 41 --samples 32 >out.txt 2>err.txt &
pid=$!
wait_for_points stopped $pid 3
expect 2 'another process makes a landscape' "$bitcycle" landscape stopped --grid 7 --samples 32
kill -INT -- -$pid
status=0
wait $pid || status=$?
[[ $status == 130 ]] || fail "expected 130 after SIGINT, found $status: $(cat err.txt)"
grep -q 'the same command goes on' err.txt || fail "no word of going on: $(cat err.txt)"

# Damaged files, and those of other weights, are made anew, with a word.
file=$(echo killed/landscape/*-$name.json)
head -c 300 "$file" >cut && cp cut "$file"
expect 0 'is damaged or of other weights; it is made anew' "$bitcycle" landscape killed "${few[@]}"
same_landscapes killed
cp static/landscape/*-$name.json "$file"
expect 0 'is damaged or of other weights' "$bitcycle" landscape killed "${few[@]}"
same_landscapes killed

# A report has them, and tells of those that it cannot read.
cp cut "$file"
"$bitcycle" report cpt static killed -o report.html >/dev/null
"$bitcycle" report cpt static killed --json >report.json
grep -q 'cannot be read' report.json || fail "no notice of a damaged landscape"
grep -q "$name" report.json || fail "no landscape in the report"

# A run in float, and one that has not come to a checkpoint.
train float --set precision.forward=0 --set precision.backward=0
expect 0 'float' "$bitcycle" landscape float --grid 3 --samples 16 -o float
expect 0 'fp' "$bitcycle" landscape float --grid 3 --samples 16 --bits fp -o float
mkdir begun && cp cpt/recipe.toml begun
expect 5 'there is no checkpoint in "begun"' "$bitcycle" landscape begun

# Bad input.
expect 2 'is no run directory' "$bitcycle" landscape nowhere
expect 2 'runs is required' "$bitcycle" landscape
expect 2 '--grid: expected an odd number from 3 to 501, found 0' "$bitcycle" landscape cpt --grid 0
expect 2 'found 100001' "$bitcycle" landscape cpt --grid 100001
expect 2 'With 51 the trained weights' "$bitcycle" landscape cpt --grid 50
expect 2 'grid' "$bitcycle" landscape cpt --grid many
expect 2 '--range: expected a number above 0' "$bitcycle" landscape cpt --range 0
expect 2 '--output: expected a directory to write to, found none at "nowhere"' \
  "$bitcycle" landscape cpt -o nowhere/picture
for output in '' cpt/ .svg cpt/.png . cpt/..; do
  expect 2 "--output: expected a file's name, found \"$output\"" "$bitcycle" landscape cpt -o "$output"
done
expect 2 '--seed' "$bitcycle" landscape cpt --seed -1
expect 2 '--bits: expected a width from 1 to 32' "$bitcycle" landscape cpt --bits 33
expect 2 'width from 1 to 32' "$bitcycle" landscape cpt --bits -1
expect 2 '--samples: expected a number from 1, or all, found "0"' "$bitcycle" landscape cpt --samples 0
expect 2 'the 64 samples of the training set, found 2048' "$bitcycle" landscape cpt
expect 2 'FIRST:STEP:END' "$bitcycle" landscape cpt --levels 1,2
expect 2 'a step above 0' "$bitcycle" landscape cpt --levels 1:0:2
expect 2 'at most 200 levels' "$bitcycle" landscape cpt --levels 0:1e-9:1
expect 2 'excludes' "$bitcycle" landscape cpt --level 1 --rise 1
expect 5 'no checkpoint "17"' "$bitcycle" landscape cpt --checkpoint 17
mkdir taken.svg
expect 4 'taken.svg' "$bitcycle" landscape cpt "${few[@]}" -o taken
