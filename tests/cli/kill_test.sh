#!/usr/bin/env bash
# The program itself, killed by SIGKILL again and again while its log grows, ends in the same files as
# one that was left alone. (kill_campaign_test kills at every system call.)
source "$(dirname "$0")/lib.sh"
small_recipe
"$bitcycle" train small.toml --set log_every=1 --run-dir whole -q >/dev/null

# Starts or resumes the run and kills it once its log has so many lines.
kill_at_line() {
  "$bitcycle" train small.toml --set log_every=1 --run-dir killed --resume -q >/dev/null 2>&1 &
  local pid=$! status=0
  while kill -0 $pid 2>/dev/null && [[ $(cat killed/metrics.jsonl 2>/dev/null | wc -l) -lt $1 ]]; do
    sleep 0.01
  done
  kill -9 $pid 2>/dev/null || true
  wait $pid 2>/dev/null || status=$?
  [[ $status == 137 ]] || fail "the run ended with $status before it was killed at line $1"
}
for line in 1 4 8 13 17; do kill_at_line $line; done
"$bitcycle" train small.toml --set log_every=1 --run-dir killed --resume -q >/dev/null
same_runs whole killed
