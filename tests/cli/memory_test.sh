#!/usr/bin/env bash
# Too little memory: what was too large, and exit status 8.
source "$(dirname "$0")/lib.sh"
small_recipe
# limited KILOBYTES command...: with so much address space and no more. One thread and no data worker,
# since each takes address space of its own.
limited() { (ulimit -v "$1"; shift; OMP_NUM_THREADS=1 exec "$@"); }
train=("$bitcycle" train small.toml -q --set data.workers=0)

# Known from the recipe, before anything is written.
expect 8 'a training step of cifar_resnet110 with data.batch_size = 40000 needs' \
  limited 6000000 "${train[@]}" --run-dir a --set model.name=cifar_resnet110 --set data.batch_size=40000 \
  --set data.limit=0
[[ ! -e a ]] || fail "a run that cannot fit was begun"

# Found by the tensors of a run, whose simulation keeps more than is sure beforehand.
expect 8 'a tensor, besides' \
  limited 5000000 "${train[@]}" --run-dir b --set model.name=cifar_resnet8 --set data.batch_size=8192 \
  --set data.limit=0 --set precision.backend=simulate
! grep -q 'mistake in Bitcycle' out.txt || fail "too little memory is not Bitcycle's mistake"

# Found in a bench, whose batches are made without a loader.
expect 8 'a tensor, besides' limited 3000000 "$bitcycle" bench step --model cifar_resnet8 --batch 20000 --repeats 1
! grep -q 'mistake in Bitcycle' out.txt || fail "too little memory is not Bitcycle's mistake"

# Little address space ends a run or lets it finish: at no limit does LibTorch wait for memory for ever.
for limit in 910000 940000 980000 1050000 1150000 1250000 1500000 1700000 2500000; do
  for threads in 1 2 8; do
    rm -rf little
    status=0
    (ulimit -v $limit; OMP_NUM_THREADS=$threads exec timeout -s KILL 100 "$bitcycle" train small.toml -q --run-dir little) \
      >out.txt 2>&1 || status=$?
    ((status == 0)) || { ((status == 8)) && grep -q 'memory error' out.txt; } ||
      fail "status $status at $limit kB and $threads threads: $(cat out.txt)"
  done
done

# Few tasks: LibTorch would wait for ever for a thread that the system refuses. Limits hold for users, not
# for root, and count all that a user has.
if ((EUID == 0)); then
  mkdir -m 777 other && chmod 755 . && chmod 644 small.toml
  cp "$bitcycle" "$(dirname "$bitcycle")/bitcycle-torch" other  # where every user may start them
  as_other=(setpriv --reuid=54321 --regid=54321 --clear-groups)
  for limit in 1 2 3 4 6; do
    for threads in 1 2 3; do
      status=0
      (cd other && OMP_NUM_THREADS=$threads exec timeout -s KILL 100 "${as_other[@]}" prlimit --nproc=$limit \
        ./bitcycle train ../small.toml -q --run-dir "$limit-$threads") >out.txt 2>&1 || status=$?
      ((status == 0 && limit > 1)) ||
        { ((status == 8)) && grep -q 'memory error: the system starts no more threads' out.txt; } ||
        fail "status $status with $threads threads where $limit are allowed: $(cat out.txt)"
    done
  done
fi
