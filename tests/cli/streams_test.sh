#!/usr/bin/env bash
# Standard streams that are closed, full, or a pipe whose reader is gone: training goes on without its
# narration, no file of the run is touched by it, and results that cannot be printed are an error.
# usage: streams_test.sh path/to/bitcycle; path/to/bitcycle-torch stands beside it.
source "$(dirname "$0")/lib.sh"
small_recipe
train=(train small.toml --set steps=4 --set data.limit=32)
"$bitcycle" "${train[@]}" --run-dir whole >/dev/null 2>&1
closed_pipe() { exec {pipe}> >(exec true); sleep 0.2; "$@" 2>&$pipe; }

trains() {  # trains NAME command...: the command trains into NAME, to the same files as `whole`
  local name=$1 status=0
  shift
  "$@" || status=$?
  [[ $status == 0 ]] || fail "$name: exit status $status"
  same_runs whole "$name"
}
for program in "$bitcycle" "$bitcycle-torch"; do
  name=$(basename "$program")
  trains "$name-closed" "$program" "${train[@]}" --run-dir "$name-closed" 2>&- >/dev/null
  trains "$name-none" "$program" "${train[@]}" --run-dir "$name-none" <&- 2>&- >/dev/null
done
trains full "$bitcycle" "${train[@]}" --run-dir full 2>/dev/full >/dev/null
trains pipe closed_pipe "$bitcycle" "${train[@]}" --run-dir pipe >/dev/null

# An error without a stream to say it on still has its exit status.
status=0; "$bitcycle" costs 2>&- || status=$?
[[ $status == 2 ]] || fail "expected exit status 2 without stderr, found $status"
status=0; "$bitcycle" costs 2>/dev/full || status=$?
[[ $status == 2 ]] || fail "expected exit status 2 on a full stderr, found $status"

# Results.
unwritten() { expect 4 'io error' bash -c "$1"; }
unwritten "'$bitcycle' models >/dev/full"
unwritten "'$bitcycle' models --json >&-"
unwritten "'$bitcycle' --help >/dev/full"
unwritten "'$bitcycle' compare whole >&-"
unwritten "'$bitcycle' eval whole --bits 8 >&-"
unwritten "'$bitcycle' train small.toml --set steps=4 --set data.limit=32 --run-dir silent -q >&-"
same_runs whole silent  # the run itself is finished all the same

# A reader that has read enough is no reason for words.
"$bitcycle" schedule CR --steps 100000 --csv 2>err.txt | head -1 >/dev/null || true
[[ ! -s err.txt ]] || fail "said to a reader that left: $(cat err.txt)"
