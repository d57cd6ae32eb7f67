#!/usr/bin/env bash
# What users and machines do wrong: one clear message, the documented exit status, no stack trace.
source "$(dirname "$0")/lib.sh"
small_recipe
train=("$bitcycle" train small.toml -q)

# The command line and the recipe.
expect 2 'cost' "$bitcycle" costs
expect 2 'no-such.toml' "$bitcycle" train no-such.toml
expect 2 'Did you mean "momentum"?' "${train[@]}" --set optimizer.momentun=0.9 --run-dir a
expect 2 'epochs' "${train[@]}" --set epochs=-1 --run-dir a
printf 'epochs = 1\n[optimiser]\nlr = 0.1\n' >typo.toml
expect 2 'typo.toml:2:' "$bitcycle" train typo.toml
expect 2 'Did you mean "optimizer"?' "$bitcycle" train typo.toml
printf 'epochs = 1\nsteps = 5\n' >both.toml
expect 2 'both.toml:' "$bitcycle" train both.toml
printf 'epochs = "three"\n' >type.toml
expect 2 'type.toml:1:10' "$bitcycle" train type.toml
printf 'epochs = \n' >syntax.toml
expect 2 'syntax.toml:1:' "$bitcycle" train syntax.toml
expect 2 'no layer fits' "${train[@]}" --run-dir a \
  --set 'precision.override=[{layers="nothing", full_precision=true}]'
expect 2 'CUDA' "${train[@]}" --run-dir a --set device=cuda
expect 2 '--bits' "$bitcycle" bench schedule --bits 8:3
expect 2 'Did you mean "CR"?' "$bitcycle" bench schedule --schedule CRR
expect 2 '--authors expects --bits' "$bitcycle" bench step --bits 0 --authors
expect 2 '--bits: schedule CR: expected a range' "$bitcycle" bench schedule --bits CR
expect 2 'auto' "$bitcycle" bench step --backend fastest
[[ ! -e a/metrics.jsonl ]] || fail "a wrong recipe started a run"
for command in 'train small.toml' 'sweep cpt-or-static' 'reproduce cpt/table2'; do
  expect 2 '--run-dir: expected a directory, found ""' "$bitcycle" $command --run-dir ''
done
mkfifo pipe.toml  # nobody waits for a writer
for command in 'train pipe.toml' 'cost pipe.toml' 'schedule pipe.toml' 'sweep pipe.toml'; do
  expect 2 'cannot read pipe.toml: it is not a regular file' timeout 20 "$bitcycle" $command
done

# Datasets: missing, truncated, bit-flipped.
mkdir -p data/cifar-10-batches-bin
expect 3 'cifar' "${train[@]}" --run-dir b --set data.dataset=cifar10 --set data.root=data
head -c 1000000 /dev/zero >data/cifar-10-batches-bin/data_batch_1.bin
expect 3 'data_batch_1.bin' "${train[@]}" --run-dir b --set data.dataset=cifar10 --set data.root=data

expect 3 'there is no dataset in "nowhere"' "$bitcycle" data --root nowhere --verify

# Splits without samples, and a set without its test pictures: found before anything is trained.
pictures=("$bitcycle" train small.toml -q --run-dir c --set data.dataset=image_folder
          --set data.root=one --set data.image_size=16)
picture one/train/a/1.jpg
expect 3 'one class only' "${pictures[@]}"
mkdir one/train/b
expect 3 'has no pictures of 1 class: b' "${pictures[@]}"
expect 3 'nothing to test on' "$bitcycle" data --verify --root one
picture one/train/b/1.jpg
expect 3 'nothing to test on' "${pictures[@]}"
picture one/val/a/1.jpg
expect 3 'none is left to train on' "${pictures[@]}" --set data.validation=0.9
[[ ! -e c ]] || fail "a set without samples started a run"
expect 2 'data.test' "${pictures[@]}" --set data.test=1.5
expect 2 'data.test' "${train[@]}" --run-dir c --set data.test=0.2
"${pictures[@]}" >/dev/null 2>&1  # one picture to train on, one to validate, and a batch of 32

# Run directories that cannot be written, are in use, or hold another run.
touch file
expect 4 'file/run' "${train[@]}" --run-dir file/run
"${train[@]}" --run-dir run >/dev/null
expect 2 'already holds a run' "${train[@]}" --run-dir run
expect 2 'optimizer.lr' "${train[@]}" --run-dir run --resume --set optimizer.lr=0.01
expect 2 'is no run directory' "$bitcycle" eval nothing-here --bits 8
expect 2 'expected a width' "$bitcycle" eval run --bits 3,many

# Language models: no text, too little of it, words that nobody knows, bytes that are no text, sizes of 0.
mkdir -p words && for split in train valid test; do
  for i in $(seq 30); do echo "the cat sees a dog"; done >words/ptb.$split.txt
done
language=("$bitcycle" train language.toml -q)
printf 'steps = 2\n[model]\nname = "lstm_lm"\nhidden = 4\n[data]\ndataset = "ptb"\nroot = "words"\nbatch_size = 2\nwindow = 5\n' >language.toml
expect 0 'perplexity' "${language[@]}" --run-dir lm
expect 2 'model.hidden: expected a whole number from 1' "${language[@]}" --run-dir lm2 --set model.hidden=0
expect 2 'which holds pictures' "${language[@]}" --run-dir lm2 --set data.dataset=cifar10
expect 2 'which holds text' "${train[@]}" --run-dir lm2 --set data.dataset=ptb
expect 2 'heads' "${language[@]}" --run-dir lm2 --set model.name=transformer_lm --set model.heads=7
expect 3 'window' "${language[@]}" --run-dir lm2 --set data.window=5000
cp -r words strange && echo "the zebra" >>strange/ptb.test.txt
expect 3 'zebra' "${language[@]}" --run-dir lm2 --set data.root=strange
cp -r words latin && printf 'caf\xe9\n' >>latin/ptb.valid.txt
expect 3 'UTF-8' "${language[@]}" --run-dir lm2 --set data.root=latin
cp -r words empty && : >empty/ptb.train.txt
expect 3 'ptb.train.txt' "${language[@]}" --run-dir lm2 --set data.root=empty
[[ ! -e lm2/metrics.jsonl ]] || fail "a language model that cannot be trained began"

# Checkpoints: bit-flipped, truncated, unsealed.
newest=run/checkpoints/step-00000016
cp -r run damaged
printf '\x5a' | dd of=damaged/checkpoints/step-00000016/model.safetensors bs=1 seek=5000 \
  conv=notrunc status=none
expect 5 'model.safetensors' "$bitcycle" eval damaged --checkpoint 16 --bits 8
rm damaged/summary.json
expect 5 'step-000000' "${train[@]}" --run-dir damaged --resume
truncate -s 1000 damaged/checkpoints/step-00000016/model.safetensors
expect 5 'model.safetensors' "$bitcycle" eval damaged --checkpoint 16 --bits 8
rm -r damaged/checkpoints/step-00000016/DONE damaged/metrics.jsonl
cp run/metrics.jsonl damaged/
"${train[@]}" --run-dir damaged --resume >/dev/null   # goes back to the one before
same_runs run damaged

# More steps than can be listed are no matter of memory.
expect 2 '1000000000000' bash -c \
  "ulimit -v 8000000; exec $bitcycle train small.toml --set steps=1000000000000 --dry-run --run-dir long"

# A loss that is not finite: the step, the layer, the last good checkpoint.
expect 6 'not finite' "${train[@]}" --run-dir wild --set optimizer.lr=1e6
grep -q 'training stopped at step' out.txt || fail "no step named"
grep -qE 'layer|weights' out.txt || fail "no layer named"
grep -q 'checkpoint' out.txt || fail "no checkpoint named"

# A full disk. A small file system of one's own needs a mount namespace; where that is not allowed, a
# limit on file sizes takes its place.
if unshare -rm true 2>/dev/null; then
  mkdir small-disk
  expect 4 'small-disk' unshare -rm bash -c \
    "mount -t tmpfs -o size=300k none small-disk && exec $bitcycle train small.toml -q --run-dir small-disk/run"
else
  expect 4 'safetensors' bash -c "ulimit -f 100; trap '' XFSZ; exec $bitcycle train small.toml -q --run-dir full"
fi
