#!/usr/bin/env bash
# Runs side by side compute on cores of their own; what a run has claimed is free when it is killed.
# Claims of other runs on this machine are not seen from a network of one's own.
if [[ ${2:-} != alone ]] && unshare -rn true 2>/dev/null; then
  exec unshare -rn "$0" "${1:?}" alone
fi
source "$(dirname "$0")/lib.sh"
require_free_cores
small_recipe

allowed() { awk '/^Cpus_allowed_list/ { print $2 }' "$1" 2>/dev/null; }
everything=$(allowed /proc/self/status)
if [[ $(first_cpus | wc -l) -lt 2 ]]; then
  echo "there is one core only; nothing to test"
  exit 77
fi

if has_cpu_quota; then
  echo "there is a CPU quota, under which runs are not bound; nothing to test"
  exit 77
fi

runs=()
trap 'kill -KILL "${runs[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
start() {
  "$bitcycle" train small.toml -q --run-dir "$1" --set epochs=100000 --set threads=1 2>/dev/null &
  runs+=($!)
}
# where PID: the CPUs of the thread that computes, once a data worker shows that training has begun.
where() {
  local task
  for _ in $(seq 600); do
    for task in /proc/"$1"/task/*; do
      if [[ ${task##*/} != "$1" && $(allowed "$task/status") == "$everything" &&
            -e /proc/$1/exe && $(readlink "/proc/$1/exe") == *bitcycle-torch ]]; then
        allowed "/proc/$1/status"
        return
      fi
    done
    sleep 0.1
  done
  fail "run $1 did not begin, or its data workers may not use every core"
}

start a
start b
first=$(where "${runs[0]}")
second=$(where "${runs[1]}")
[[ $first != "$everything" ]] || fail "the first run is not bound"
[[ $second != "$everything" ]] || fail "the second run is not bound"
[[ $first != "$second" ]] || fail "both runs compute on $first"

kill -KILL "${runs[0]}"
wait "${runs[0]}" 2>/dev/null || true
start c
[[ $(where "${runs[2]}") == "$first" ]] || fail "the cores of a killed run were not taken again"

# What the user has asked OpenMP for is left alone.
export OMP_PROC_BIND=false
start d
[[ $(where "${runs[3]}") == "$everything" ]] || fail "OMP_PROC_BIND=false was overruled"
