#!/usr/bin/env bash
# A run killed by SIGKILL again and again, at moments spread over all that a run does, ends in the
# same bytes as one that was left alone.
source "$(dirname "$0")/lib.sh"
small_recipe
"$bitcycle" train small.toml --run-dir whole -q >/dev/null

for round in 1 2 3; do
  kills=0
  # Delays differ from round to round, so that kills fall on loading, steps, evaluations and
  # checkpoints.
  for delay in 1.$((4 + round)) 1.$((6 + round)) 2.$((round * 2)) 2.$((6 + round)) 3.$round; do
    "$bitcycle" train small.toml --run-dir "killed$round" --resume -q >/dev/null 2>&1 &
    pid=$!
    sleep "$delay"
    if kill -9 $pid 2>/dev/null; then kills=$((kills + 1)); fi
    wait $pid 2>/dev/null || true
  done
  "$bitcycle" train small.toml --run-dir "killed$round" --resume -q >/dev/null
  echo "round $round: killed $kills times"
  same_runs whole "killed$round"
done
