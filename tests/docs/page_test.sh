#!/usr/bin/env bash
# Does what a page of documentation says and compares, block by block; CONTRIBUTING.md ("Documentation
# is run") has the rule by which pages are written. All blocks of a page work in one folder, in order.
# usage: page_test.sh path/to/bitcycle docs/page.md [in_full]
# With in_full what long runs have printed is made anew, at full length, and only that is compared.
source "$(dirname "$0")/../cli/lib.sh"
name=${2:?usage: $0 path/to/bitcycle docs/page.md [in_full]}
length=${3:-in_short}
source=$(realpath "$here/../..")
if [[ $length == in_full ]] && ! grep -q avx512f /proc/cpuinfo; then
  echo "what pages show was computed with AVX-512 (docs/numerics.md), which this processor lacks"
  exit 77
fi
source "$here/stage.sh"
set_stage
failures=0

# complain LINE EXPECTED FOUND
complain() {
  printf '%s:%s:\n  expected: %s\n  found:    %s\n' "$name" "$1" "$2" "$3" >&2
  failures=$((failures + 1))
}
skip() { echo "$name:$1: skipped: $2"; }

# compare_command LINE MODE COMMAND, with what the page shows in "$work/shown".
compare_command() {
  local status=0 folder=as_is mode=$2 difference at
  [[ $mode != recorded ]] || folder=$length
  [[ $mode/$length != recorded/in_full ]] || mode=repeated
  perform $folder "$3" || status=$?
  if ((status != 0)) && missing_data && ! grep -q ' error: ' "$work/shown"; then
    skip "$1" "$(first_error)"
    return
  fi
  if ((status != 0)) && ! grep -q ' error: ' "$work/shown"; then
    complain "$1" "a command that ends well: $3" "exit status $status: $(first_error)"
    return
  fi
  sed -i "s|$work/reader/||g" "$work/printed"
  difference=$(awk -v mode="$mode" -f "$here/compare.awk" "$work/shown" "$work/printed")
  [[ -n $difference ]] || return 0
  at=${difference%%$'\t'*}
  complain $(($1 + at)) "$(sed -n "${at}p" "$work/shown" | grep . || echo "the end of: $3")" \
    "${difference#*$'\t'}"
}

# A command is a line "$ ...", and those behind it while they end in a backslash.
console() {
  local mode=${words:-exact} command='' at=0 number=$line text
  [[ $mode =~ ^(exact|measured|recorded)$ ]] ||
    complain "$line" 'console, console measured or console recorded' "console $mode"
  [[ $length == in_short || $mode == recorded ]] || return 0
  while IFS= read -r text || [[ -n $text ]]; do
    number=$((number + 1))
    if [[ $text == '$ '* ]]; then
      ((at == 0)) || compare_command $at "$mode" "$command"
      command=${text#'$ '} at=$number
      : >"$work/shown"
    elif [[ $command == *'\' && $number == $((at + 1)) ]]; then
      command+=$'\n'$text at=$number
    elif ((at == 0)); then
      complain $number 'a line "$ command"' "$text"
      return
    else
      printf '%s\n' "$text" >>"$work/shown"
    fi
  done <"$block"
  ((at == 0)) || compare_command $at "$mode" "$command"
}

# Stops at the first command that is refused. RUN stands for a run.
commands() {
  local status=0 at text
  text=$(<"$block")
  [[ $text != *\ RUN* ]] || (cd reader && ../tools/small-run RUN)
  echo 1 >"$work/at"
  perform checked "trap 'echo \$LINENO >\"$work/at\"' ERR; $text" || status=$?
  ((status == 0)) && return
  at=$(<"$work/at")
  text=$(sed -n "${at}p" "$block")
  [[ $language == sh ]] || at=0
  if missing_data; then skip $((line + at)) "$(first_error)"
  else complain $((line + at)) "$text" "$(first_error)"; fi
}

is_whole_recipe() {
  grep -qE '^(steps|epochs) *=' "$block" && ! grep -qE '^weights *=|^forward *= *"auto"' "$block"
}
is_sweep() { grep -qE '^(recipe *=|\[variants)' "$block"; }

# A recipe that says how long it is stands for itself and is trained in short; of others, of those that
# begin with somebody's weights, and of range tests, which short runs have no room for, only the keys are
# looked at. Sweeps are written for recipes/sweeps.
recipe() {
  local file=${words:-recipe.toml} status=0
  ! is_sweep || file=recipes/sweeps/$file
  cp "$block" "$work/reader/$file"
  if is_sweep; then
    perform checked "bitcycle sweep $file" || status=$?
  elif is_whole_recipe; then
    perform in_short "bitcycle train $file --run-dir trial-$line" || status=$?
  else
    perform checked "bitcycle train $file --set steps=100000" || status=$?
  fi
  ((status == 0)) || complain "$line" 'a recipe that is in order' "$(first_error)"
}

code() {
  local program
  for program in "$source"/examples/*/*.cpp; do
    awk -f "$here/part_of.awk" "$block" "$program" && return
  done
  complain "$line" 'lines of a program below examples/, which are compiled' "$(head -1 "$block") ..."
}

python() {
  command -v python3 >/dev/null || { skip "$line" 'python3 is not there to read it'; return; }
  python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$block" 2>"$work/printed" ||
    complain "$line" 'Python' "$(tail -1 "$work/printed")"
}

mkdir "$work/blocks"
awk -v folder="$work/blocks" -f "$here/blocks.awk" "$source/$name" >"$work/index"
while IFS=$'\t' read -r block line language words <&3; do
  [[ $length == in_short || $language =~ ^(console|sh)$ ]] || continue
  case $language in
    console) console ;;
    sh | row) commands ;;
    toml) recipe ;;
    cpp) code ;;
    python) python ;;
    cmake | text) ;;
    *) complain "$line" 'console, sh, toml, cpp, python, cmake or text behind the fence' "$language" ;;
  esac
done 3<"$work/index"
((failures == 0)) || fail "$name: $failures differences"
