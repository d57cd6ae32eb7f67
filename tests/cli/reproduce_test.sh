#!/usr/bin/env bash
# A table of a paper: its cells scaled, some of them, and the paper's figures beside ours.
source "$(dirname "$0")/lib.sh"
small_recipe
cat >table9.toml <<'TOML'
recipe = "small.toml"
[set]
steps = 40
data.limit = 64
data.batch_size = 16
[variants.net-cpt]
baseline = "net-static"
paper = { accuracy = 93.5, gbitops = 1.5e8 }
[variants.net-static]
precision.forward = 8
paper = { accuracy = 92.25, gbitops = 2.0e8 }
[variants.other]
precision.forward = 6
TOML
"$bitcycle" reproduce table9.toml --scale 0.1 --only net --set log_every=1 --run-dir short >out.txt 2>err.txt
grep -Eq '^net-cpt +accuracy +93.50 % +[0-9.]+ % +\+1.25 +[+-][0-9.]+ +25.0 % +[0-9.]+ %$' out.txt ||
  fail "no row with both figures: $(cat out.txt)"
# What was changed of the paper's cells is told, before and after.
grep -Eq '^steps +4 +40 +2 of 2$' out.txt ||
  fail "no list of what was changed: $(cat out.txt)"
"$bitcycle" reproduce table9.toml --scale 0.1 --only net --set model.name=cifar_resnet20 --run-dir other --dry-run >plan.txt
grep -Eq '^model.name +"cifar_resnet20" +"cifar_resnet8" +2 of 2$' plan.txt || fail "$(cat plan.txt)"
grep -Eq '^net-static +accuracy +92.25 % +[0-9.]+ % +- +- +- +-$' out.txt || fail "$(cat out.txt)"
! grep -q '^other' out.txt || fail "a cell that was left out: $(cat out.txt)"
[[ $(wc -l <short/net-cpt/metrics.jsonl) -ge 4 ]] || fail "not four steps"
grep -q '^steps = 4$' short/net-cpt/recipe.toml || fail "the run was not shortened"
"$bitcycle" reproduce table9.toml --scale 0.1 --only net --set log_every=1 --run-dir short --json -q >out.json
grep -q '"paper_difference": 1.25' out.json || fail "no paper in JSON"
grep -q '"paper_saving_percent": 25' out.json || fail "no saving of the paper in JSON"

# Without its baseline a cell is held against nothing.
"$bitcycle" reproduce table9.toml --scale 0.1 --only net-cpt --run-dir alone >out.txt 2>err.txt
grep -Eq '^net-cpt +accuracy +93.50 % +[0-9.]+ % +- +- +- +-$' out.txt || fail "$(cat out.txt)"

# A row that others are compared with is compared with nothing, and certainly not with the file's last.
"$bitcycle" reproduce table9.toml --scale 0.1 --run-dir whole >out.txt 2>err.txt
grep -Eq '^net-static +accuracy +92.25 % +[0-9.]+ % +- +- +- +-$' out.txt || fail "$(cat out.txt)"
grep -Eq '^other +accuracy +- +[0-9.]+ % +- +- +- +-$' out.txt || fail "$(cat out.txt)"

# Settings that only some cells can take go to the cells that are chosen.
"$bitcycle" reproduce cpt/table5 --only lstm --set model.hidden=20 --dry-run >out.txt || fail "$(cat out.txt)"

# The tables that ship, all cells of which parse.
"$bitcycle" reproduce >list.txt
for table in cpt/figure{1,5,7,8,9} cpt/table{1,2,3,4,5,6,7,8}; do
  grep -q "^$table " list.txt || fail "$table is not listed: $(cat list.txt)"
  "$bitcycle" reproduce "$table" --dry-run --scale 0.05 --json >plan.json || fail "$table: $(cat plan.json)"
done
[[ ! -e runs ]] || fail "a dry run wrote something"

expect 2 'no cell has "resnet999" in its name' "$bitcycle" reproduce cpt/table2 --only resnet999 --dry-run
expect 2 'Value 2 not in range' "$bitcycle" reproduce cpt/table2 --scale 2 --dry-run
expect 2 'expected a number, found nan' "$bitcycle" reproduce cpt/table2 --scale nan --dry-run
expect 2 'neither a file nor the name' "$bitcycle" reproduce cpt/table99 --dry-run
expect 2 'optimizer.lx' "$bitcycle" reproduce cpt/table2 --set optimizer.lx=1 --dry-run
