#!/usr/bin/env bash
# Standard streams that are closed, full, or a pipe whose reader is gone: training goes on without its
# narration, no file of the run is touched by it, and results that cannot be printed are an error.
# usage: streams_test.sh path/to/bitcycle; path/to/bitcycle-torch stands beside it.
source "$(dirname "$0")/lib.sh"
small_recipe
train="train small.toml --set steps=4 --set data.limit=32 --run-dir"
"$bitcycle" $train whole >/dev/null 2>&1

# trains NAME PROGRAM REDIRECTIONS: trains into NAME, to the same files as `whole`.
trains() {
  local status=0
  bash -c "exec '$2' $train $1 >/dev/null $3" || status=$?
  [[ $status == 0 ]] || fail "$1: exit status $status"
  same_runs whole "$1"
}
trains closed "$bitcycle" '2>&-'
trains closed-torch "$bitcycle-torch" '2>&-'
trains no-input "$bitcycle" '<&- 2>&-'
trains full "$bitcycle" '2>/dev/full'
exec {unread}> >(exec true)
trains pipe "$bitcycle" "2>&$unread"

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
unwritten "'$bitcycle' $train silent -q >&-"
same_runs whole silent  # the run itself is finished all the same

# A reader that has read enough is no reason for words.
"$bitcycle" schedule CR --steps 100000 --csv 2>err.txt | head -1 >/dev/null || true
[[ ! -s err.txt ]] || fail "said to a reader that left: $(cat err.txt)"
