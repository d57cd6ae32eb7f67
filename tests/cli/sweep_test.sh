#!/usr/bin/env bash
# A sweep, left alone, killed, stopped, changed, with a cell that fails: the same runs every time.
source "$(dirname "$0")/lib.sh"
small_recipe
cat >s.toml <<'TOML'
recipe = "small.toml"
seeds = [1, 2]
baseline = "static"
[set]
steps = 8
log_every = 1
data.limit = 64
data.batch_size = 16
[variants.cpt]
[variants.static]
precision.forward = 8
TOML
cells=(cpt,seed=1 cpt,seed=2 static,seed=1 static,seed=2)

# What it will do, and nothing written.
"$bitcycle" sweep s.toml --dry-run >plan.txt
[[ $(grep -c 'new$' plan.txt) == 4 ]] || fail "not four new cells: $(cat plan.txt)"
grep -Eq '^cpt,seed=1 +CR 3-8/8 +8 +[0-9.e+]+ +new$' plan.txt || fail "no cost: $(cat plan.txt)"
"$bitcycle" sweep s.toml --dry-run --json | grep -q '"gbitops_least"' || fail "no cost in JSON"
[[ ! -e runs ]] || fail "a dry run wrote something"

# Left alone. Its cells are ordinary runs; table and JSON are stored, and compare prints them again.
"$bitcycle" sweep s.toml --run-dir whole >table.txt 2>narration.txt
grep -q '4 of 4 finished' narration.txt || fail "no progress: $(cat narration.txt)"
grep -Eq '^cpt +CR 3-8/8 +2 +[0-9.]+ % ± ' table.txt || fail "no row: $(cat table.txt)"
diff table.txt whole/table.txt || fail "another table is stored"
"$bitcycle" compare whole | diff table.txt - || fail "compare prints another table"
"$bitcycle" compare whole --json | grep -q '"by": "same-seed pairs"' || fail "no pairs"
"$bitcycle" train small.toml --set steps=8 --set log_every=1 --set data.limit=64 \
  --set data.batch_size=16 --set seed=2 --run-dir alone -q >/dev/null
same_runs alone whole/cpt,seed=2
expect 0 finished "$bitcycle" sweep s.toml --run-dir whole --dry-run
[[ $(grep -c 'finished$' out.txt) == 4 ]] || fail "finished cells are not: $(cat out.txt)"
# Finished runs are not repeated.
stat -c '%y %n' whole/*/summary.json >before.txt
"$bitcycle" sweep s.toml --run-dir whole -q >/dev/null
stat -c '%y %n' whole/*/summary.json | diff before.txt - || fail "finished runs were repeated"

# A part of it, with a setting of its own; what is there already is left alone.
expect 0 'cpt,seed=2' "$bitcycle" sweep s.toml --dry-run --only seed=2 --set steps=4
[[ $(grep -c 'seed=2 .* 4 .*new$' out.txt) == 2 && $(grep -c 'new$' out.txt) == 2 ]] ||
  fail "--only and --set: $(cat out.txt)"
expect 2 'no cell has "seed=9" in its name' "$bitcycle" sweep s.toml --only seed=9
expect 2 'optimizer.lx' "$bitcycle" sweep s.toml --set optimizer.lx=1
expect 2 'steps: ' "$bitcycle" sweep s.toml --run-dir whole --only cpt --set steps=4
# What was begun before stays in the table; what was not is not in it.
"$bitcycle" sweep s.toml --run-dir part --only seed=2 >out.txt 2>err.txt
"$bitcycle" compare part --json | grep -o '"run": "[^"]*"' | sort >runs.txt
diff runs.txt <(printf '"run": "part/%s"\n' cpt,seed=2 static,seed=2) || fail "--only seed=2"
"$bitcycle" sweep s.toml --run-dir part --only seed=1 >out.txt 2>err.txt
diff out.txt part/table.txt || fail "another table is stored"
diff <(sed -E 's/ [0-9.]+ (ms|s) .*//' whole/table.txt) <(sed -E 's/ [0-9.]+ (ms|s) .*//' part/table.txt) ||
  fail "parts make another table than the whole"
! grep -q 'no longer in the sweep' err.txt || fail "cells that were not chosen are said to be gone"
same_runs whole/static,seed=1 part/static,seed=1

same_sweeps() {
  for cell in "${cells[@]}"; do same_runs "whole/$cell" "$1/$cell"; done
  sed -E "s|\"$1/|\"whole/|; /seconds|time_saved|machine/d" "$1/sweep.json" >a.json
  sed -E '/seconds|time_saved|machine/d' whole/sweep.json | diff - a.json || fail "$1/sweep.json"
  diff <(cd whole && find . -type f | sort) <(cd "$1" && find . -type f | sort) ||
    fail "$1 holds other files"
}
lines() { cat "$1"/*/metrics.jsonl 2>/dev/null | wc -l; }
# Waits until the runs of a sweep have logged so many lines in all, or it has ended.
wait_for_lines() {
  while kill -0 "$2" 2>/dev/null && [[ $(lines "$1") -lt $3 ]]; do sleep 0.02; done
}

# Killed at random moments, its children with it or left to stop by themselves.
RANDOM=12
moment=0
for children in with without with; do
  moment=$((moment + 2 + RANDOM % 10))
  "$bitcycle" sweep s.toml --run-dir killed --jobs 2 >/dev/null 2>&1 &
  pid=$!
  wait_for_lines killed $pid $moment
  family=$(pgrep -P $pid | tr '\n' ' ' || true)
  [[ $children == with ]] || family=
  kill -9 $pid $family 2>/dev/null || true
  wait $pid 2>/dev/null || true
done
"$bitcycle" sweep s.toml --run-dir killed --jobs 2 -q >/dev/null
same_sweeps killed

# Ctrl-C stops all of them with a checkpoint; two jobs leave the same bytes as one.
env --default-signal=INT "$bitcycle" sweep s.toml --run-dir stopped --jobs 2 >out.txt 2>err.txt &
pid=$!
wait_for_lines stopped $pid 4
family=$(pgrep -P $pid | tr '\n' ' ')
# Another sweep in the same place meanwhile.
expect 2 'is in use' "$bitcycle" sweep s.toml --run-dir stopped
kill -INT $pid
status=0
wait $pid || status=$?
[[ $status == 130 ]] || fail "expected 130 after SIGINT, found $status: $(cat err.txt)"
grep -q 'the same command goes on' err.txt || fail "no word of going on: $(cat err.txt)"
for child in $family; do ! kill -0 "$child" 2>/dev/null || fail "a cell outlived its sweep"; done
[[ -n $(find stopped -name DONE) ]] || fail "no checkpoint"
expect 0 'step ' "$bitcycle" compare stopped
"$bitcycle" sweep s.toml --run-dir stopped --jobs 2 -q >/dev/null
same_sweeps stopped

# What is new runs, and a cell that fails stops no other; the table has its reason.
cp s.toml more.toml
sed -i 's/^seeds = .*/seeds = [2, 3]/' more.toml
printf '[variants.wild]\noptimizer.lr = 1e6\n' >>more.toml
cp -r whole grown
status=0
"$bitcycle" sweep more.toml --run-dir grown --jobs 2 >table.txt 2>narration.txt || status=$?
[[ $status == 9 ]] || fail "expected 9 after a failure, found $status: $(cat narration.txt)"
grep -q 'no longer in the sweep.*cpt,seed=1, static,seed=1' narration.txt || fail "vanished cells"
grep -q 'cpt,seed=2 begins' narration.txt && fail "a finished cell began again"
grep -Eq '^wild .* 0 of 2 ' table.txt || fail "no row of the failed: $(cat table.txt)"
grep -q 'wild,seed=2: failed at step .* diverged error: training stopped' table.txt ||
  fail "no reason: $(cat table.txt)"
grep -Eq '^cpt +CR 3-8/8 +2 ' table.txt || fail "the others did not finish: $(cat table.txt)"
grep -q '"failure": "diverged error' grown/sweep.json || fail "no failure in sweep.json"

# What has changed is refused in words, and done anew when told.
sed 's/^steps = 8/steps = 4/; /^\[variants.cpt\]/d' s.toml >changed.toml
expect 2 'steps: 8 -> 4' "$bitcycle" sweep changed.toml --run-dir killed
expect 2 '--redo-changed' "$bitcycle" sweep changed.toml --run-dir killed
expect 0 'changed: steps: 8 -> 4' "$bitcycle" sweep changed.toml --run-dir killed --dry-run
"$bitcycle" sweep changed.toml --run-dir killed --redo-changed -q >table.txt 2>/dev/null
grep -q ', 4 steps' table.txt || fail "not done anew: $(cat table.txt)"
# Keys that only say how a run is carried out change nothing.
sed 's/^log_every = 1/log_every = 2/' s.toml >conduct.toml
"$bitcycle" sweep conduct.toml --run-dir stopped -q >/dev/null

# One that ships, by name and from anywhere; train and sweep tell whose file it is.
expect 0 'static-8,seed=3' "$bitcycle" sweep cpt-or-static --dry-run
expect 0 'static-8,seed=3' "$bitcycle" sweep sweeps/cpt-or-static --dry-run
expect 2 'Did you mean "cpt-or-static"?' "$bitcycle" sweep cpt-or-statik
expect 2 'Train them with `bitcycle sweep s.toml`' "$bitcycle" train s.toml
expect 2 'this is a sweep' "$bitcycle" train cpt-or-static
expect 2 'this is a sweep' "$bitcycle" cost cpt-or-static
expect 2 'Train it with `bitcycle train small.toml`' "$bitcycle" sweep small.toml

# A recipe that ships has a name here too; a file of one's own comes first.
printf 'recipe = "demo-cpt"\n' >named.toml
expect 0 'CR 3-8/8' "$bitcycle" sweep named.toml --dry-run
mkdir demo-cpt  # a run of it, say
expect 0 'CR 3-8/8' "$bitcycle" sweep named.toml --dry-run
rmdir demo-cpt
cp small.toml demo-cpt
expect 0 'demo-cpt  CR 3-8/8   2 epochs' "$bitcycle" sweep named.toml --dry-run
rm demo-cpt

# Data that are not there are told of before the first cell begins, for the cells that need them.
printf 'recipe = "small.toml"\n[variants.here]\n[variants.far]\ndata.dataset = "cifar100"\n' >far.toml
export BITCYCLE_DATA=nowhere HOME=$work
expect 0 'cifar100 was not found: needed by 1 of 2 cells. Get it with `bitcycle data get cifar100`.' \
  "$bitcycle" sweep far.toml --dry-run
expect 9 'warning: cifar100 was not found' "$bitcycle" sweep far.toml --run-dir far
expect 0 'here' "$bitcycle" sweep far.toml --run-dir far --only here
! grep -q '^warning' out.txt || fail "data of other cells are missed: $(cat out.txt)"
sed -i 's/"cifar100"/"image_folder"/' far.toml
expect 0 'image_folder needs a data.root: needed by 1 of 1 cells' "$bitcycle" sweep far.toml --only far --dry-run
expect 0 'there is no "gone" for image_folder' \
  "$bitcycle" sweep far.toml --only far --set data.root=gone --dry-run

# Bad input.
expect 2 'none.toml' "$bitcycle" sweep none.toml
expect 2 'jobs' "$bitcycle" sweep s.toml --jobs 0
printf 'recipe = "small.toml"\nsedes = [1]\n' >typo.toml
expect 2 'typo.toml:2:1: unknown key sedes' "$bitcycle" sweep typo.toml
expect 2 'Did you mean "seeds"?' "$bitcycle" sweep typo.toml
printf 'recipe = "small.toml"\n[set]\noptimizer.momentun = 1\n' >typo.toml
expect 2 'typo.toml:3:' "$bitcycle" sweep typo.toml
expect 2 'Did you mean "momentum"?' "$bitcycle" sweep typo.toml
expect 2 'holds a run, and no sweep' "$bitcycle" sweep s.toml --run-dir alone
touch file
expect 4 'file' "$bitcycle" sweep s.toml --run-dir file/sweep
echo '{' >killed/sweep.json
expect 4 'sweep.json' "$bitcycle" compare killed
[[ ! -e runs ]] || fail "a wrong sweep started"
