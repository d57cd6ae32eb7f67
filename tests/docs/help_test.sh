#!/usr/bin/env bash
# Runs every example of every command's help: the program checks files, recipes, names and options, and
# what it would hand over to bitcycle-torch is taken for done.
# usage: help_test.sh path/to/bitcycle
source "$(dirname "$0")/../cli/lib.sh"
source=$(realpath "$here/../..")
source "$here/stage.sh"
set_stage
language=sh

# examples [COMMAND]: those of its help, without what is said behind them.
examples() {
  # shellcheck disable=SC2086
  "$bitcycle" ${1-} --help |
    awk '/^Examples?:/ { inside = 1; next } /^$/ { inside = 0 } inside && !/^     / { print }' |
    sed -E 's/^  //; s/   +.*//'
}

# What they speak of: recipes, runs, sweeps and pictures of the reader's own.
own_files() {
  cd reader
  "$bitcycle" recipes demo-cpt >recipe.toml
  printf 'recipe = "recipe.toml"\nseeds = [1, 2]\n[variants.cpt]\n' >sweep.toml
  for run in demo-cpt demo-static demo-float own-pictures cpt-or-static/cpt cpt-or-static/float; do
    ../tools/small-run runs/$run
  done
  picture cat.jpg
  picture folder/cat.jpg
  picture new-pictures/cat.jpg
  cd ..
}
own_files

# be_mine KIND: what "mine" is in an example, a recipe that has been trained or a sweep that has not.
be_mine() {
  cp "reader/$1.toml" reader/mine.toml
  [[ $1 == recipe ]] || rm -rf reader/runs/mine
  [[ $1 == sweep ]] || (cd reader && ../tools/small-run runs/mine)
}

count=0
try() {
  local kind=recipe
  [[ $1 != 'bitcycle sweep '* ]] || kind=sweep
  be_mine $kind
  count=$((count + 1))
  [[ $1 == 'bitcycle '* ]] || fail "expected an example that begins with bitcycle, found \"$1\""
  perform checked "$1" && return
  missing_data || fail "expected an example that works, found \"$1\": $(first_error)"
  echo "skipped: $1: $(first_error)"
}

{ echo; all_commands; } >commands.txt
while read -r command <&3; do
  examples "$command" >examples.txt
  [[ -s examples.txt ]] || fail "no examples in the help of ${command:-bitcycle}"
  while IFS= read -r example <&4; do try "$example"; done 4<examples.txt
done 3<commands.txt
echo "$count examples"
