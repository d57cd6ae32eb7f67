#!/usr/bin/env bash
# What README shows of the demo was measured once, but for its costs: those follow from the recipes, and
# are compared with what a dry run of each says.
# usage: recorded_costs_test.sh path/to/bitcycle
source "$(dirname "$0")/../cli/lib.sh"
readme=$(realpath "$here/../../README.md")
unset BITCYCLE_DATA XDG_DATA_HOME

# recorded COLUMN: of the demo's runs, a line each with the recipe's name before what stands there.
recorded() {
  awk -F '  +' -v wanted="$1" '
    /^\$ bitcycle compare runs\/demo-/ { inside = 1 }
    /^```$/ { inside = 0 }
    inside && $NF == "run directory" { for (i = 1; i < NF; ++i) if ($i == wanted) column = i }
    inside && column && sub(/^runs\//, "", $NF) { print $NF ": " $column }
    /^$/ { column = 0 }' "$readme"
}

for recipe in demo-cpt demo-static demo-float; do
  expect 0 'the run costs ' "$bitcycle" train $recipe --dry-run
  read -r gbitops share < <(sed -nE 's/^the run costs ([^ ]+) GBitOPs, ([^ ]+) % of static.*/\1 \2/p' out.txt)
  echo "$recipe: $gbitops" >>gbitops.txt
  awk -v recipe=$recipe -v share="$share" 'BEGIN { printf "%s: %.1f %%\n", recipe, 100 - share }' >>saved.txt
done
diff <(recorded GBitOPs) gbitops.txt >&2 || fail "README shows other GBitOPs (<) than its recipes cost (>)"
diff <(recorded 'cost saved') saved.txt >&2 || fail "README shows other savings (<) than its recipes have (>)"

told=$(sed -nE 's/.*a cycle of 3 to 8 bits costs ([0-9]+) % less than static 8\..*/\1/p' "$readme")
saved=$(sed -nE 's/^demo-cpt: ([0-9.]+) %/\1/p' saved.txt)
[[ $told == $(printf '%.0f' "$saved") ]] || fail "expected that README tells of $saved % less, found \"$told\""
