#!/usr/bin/env bash
# What the program without LibTorch hands over: the number of threads and the cores they are bound to.
# A stand-in for bitcycle-torch says what it was given.
# Claims of runs on this machine are not seen from a network of one's own.
if [[ ${2:-} != alone ]] && unshare -rn true 2>/dev/null; then
  exec unshare -rn "$0" "${1:?}" alone
fi
source "$(dirname "$0")/lib.sh"
require_free_cores
unset OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES GOMP_CPU_AFFINITY OMP_WAIT_POLICY GOMP_SPINCOUNT
small_recipe

cp "$bitcycle" bitcycle
cat >bitcycle-torch <<'SH'
#!/bin/sh
echo "${OMP_NUM_THREADS} ${OMP_PROC_BIND:-unbound} ${OMP_PLACES:-anywhere}"
[ -z "$SAY_SPINS" ] || echo "spins ${GOMP_SPINCOUNT:-as libgomp likes} ${OMP_WAIT_POLICY:-by no policy}"
[ -z "$HOLD" ] || exec sleep 60
SH
chmod +x bitcycle-torch
train=(./bitcycle train small.toml)

readarray -t cores < <(first_cpus)
count=${#cores[@]}

# handed COMMAND...: what the stand-in was given.
handed() { "$@" 2>/dev/null; }
first_place() { local text=${1##* }; echo "${text%%\}*}}"; }

read -r threads bound places <<<"$(handed "${train[@]}")"
if ! has_cpu_quota; then
  [[ $threads == "$count" ]] || fail "expected a thread for each of $count cores, found $threads"
  [[ $bound == close ]] || fail "free cores were not claimed: $bound $places"
fi

# An affinity mask of one CPU, and what users ask for.
[[ $(handed taskset -c "${cores[0]}" "${train[@]}") == "1 "* ]] || fail "the affinity mask was ignored"
[[ $(handed "${train[@]}" --set threads=3) == "3 "* ]] || fail "threads = 3 was ignored"
[[ $(handed env OMP_NUM_THREADS=5 "${train[@]}") == "5 "* ]] || fail "OMP_NUM_THREADS was ignored"
for nonsense in 0 -3 abc 99999999999; do
  OMP_NUM_THREADS=$nonsense expect 2 "OMP_NUM_THREADS: expected a number" "${train[@]}"
done
[[ $(handed env OMP_NUM_THREADS=5 "${train[@]}" --set threads=1) == "1 "* ]] || fail "the recipe comes first"
for policy in close spread true; do
  has_cpu_quota || [[ $(handed env OMP_PROC_BIND=$policy "${train[@]}") == "$count $policy anywhere" ]] ||
    fail "OMP_PROC_BIND=$policy left threads for the first core alone"
done
[[ $(handed env OMP_PROC_BIND=false "${train[@]}") == *" false anywhere" ]] || fail "OMP_PROC_BIND was ignored"

# Threads that wait do not spin for long, unless the user has said how they shall wait.
spins() { SAY_SPINS=1 handed "$@" | grep '^spins '; }
[[ $(spins "${train[@]}") == 'spins 1000 by no policy' ]] || fail "threads spin: $(spins "${train[@]}")"
[[ $(spins env OMP_WAIT_POLICY= "${train[@]}") == 'spins 1000 by no policy' ]] || fail "an empty policy counts"
[[ $(spins env GOMP_SPINCOUNT=7 "${train[@]}") == 'spins 7 by no policy' ]] || fail "GOMP_SPINCOUNT was ignored"
for policy in active passive; do
  [[ $(spins env OMP_WAIT_POLICY=$policy "${train[@]}") == "spins as libgomp likes $policy" ]] ||
    fail "OMP_WAIT_POLICY=$policy was ignored"
done

# Side by side: other first places while the first run lasts, the same one after it.
if [[ $bound != close || $count -lt 2 ]]; then
  echo "there is one core, or a CPU quota: nothing to claim side by side"
  exit 77
fi
HOLD=1 ./bitcycle train small.toml --set threads=1 >held.txt 2>/dev/null &
holder=$!
trap 'kill "$holder" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do [[ -s held.txt ]] && break; sleep 0.05; done
first=$(first_place "$(cat held.txt)")
second=$(first_place "$(handed "${train[@]}" --set threads=1)")
[[ $first =~ ^\{${cores[0]}[,}] ]] || fail "expected the first core, found $first"
[[ $second =~ ^\{${cores[1]}[,}] ]] || fail "expected the second core, found $second"
[[ $(handed "${train[@]}" --set threads="$count") == "$count unbound anywhere" ]] ||
  fail "bound to a core that another run has"
kill "$holder"
wait "$holder" 2>/dev/null || true
[[ $(first_place "$(handed "${train[@]}" --set threads=1)") == "$first" ]] || fail "a claim outlived its run"
