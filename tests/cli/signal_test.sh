#!/usr/bin/env bash
# SIGINT and SIGTERM finish the step, save, and exit with 130 and 143; the run can be resumed.
# They end `watch` too, in the background and with a page open.
source "$(dirname "$0")/lib.sh"
small_recipe
"$bitcycle" train small.toml --run-dir whole -q >/dev/null

for signal in INT TERM; do
  # A background job of a script ignores SIGINT, so the trainer is started with the default restored.
  env --default-signal=INT "$bitcycle" train small.toml --set log_every=1 --run-dir "run$signal" \
    >out.txt 2>err.txt &
  pid=$!
  for _ in $(seq 200); do grep -q 'step 2/' err.txt && break; sleep 0.1; done
  kill -"$signal" $pid
  kill -"$signal" $pid  # as `timeout` does: one wish, and no reason to leave without a checkpoint
  status=0
  wait $pid || status=$?
  [[ $signal == INT ]] && expected=130 || expected=143
  [[ $status == "$expected" ]] || fail "SIG$signal: expected exit status $expected, found $status"
  grep -q '^stopping at the next step' err.txt || fail "SIG$signal: no word that it was heard"
  grep -q 'stopped at step' err.txt || fail "SIG$signal: no word of where it stopped"
  "$bitcycle" train "run$signal" --resume -q >/dev/null
  diff -q "whole/checkpoints/step-00000016/model.safetensors" \
          "run$signal/checkpoints/step-00000016/model.safetensors"
done

for signal in INT TERM; do
  "$bitcycle" watch . --port 0 >"address$signal" 2>/dev/null &
  pid=$!
  for _ in $(seq 200); do [[ -s address$signal ]] && break; sleep 0.1; done
  port=$(grep -oE '[0-9]+/$' "address$signal" | tr -d /)
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  printf 'GET /events?run=whole HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3
  read -r -t 20 answer <&3 || fail "watch did not answer"
  [[ $answer == *200* ]] || fail "no stream: $answer"
  kill -"$signal" $pid
  for _ in $(seq 200); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
  kill -KILL $pid 2>/dev/null || true
  status=0
  wait $pid || status=$?
  exec 3<&-
  [[ $signal == INT ]] && expected=130 || expected=143
  [[ $status == "$expected" ]] || fail "watch, SIG$signal: expected $expected, found $status"
done
