#!/usr/bin/env bash
# show prints runs in any state in 80 columns; eval stores what it finds; files that a run can do
# without do not end it.
source "$(dirname "$0")/lib.sh"
small_recipe
sed -i 's/^log_every.*/log_every = 1/' small.toml
"$bitcycle" train small.toml --run-dir run -q >/dev/null
for file in layers.jsonl events.out.tfevents.bitcycle; do
  [[ -s run/$file ]] || fail "no $file"
done

# shows FILE...: the words are in out.txt, and no line is longer than 80 columns.
fits() {
  local longest
  longest=$(LC_ALL=C.UTF-8 awk '{ if (length($0) > n) n = length($0) } END { print n }' out.txt)
  ((longest <= 80)) || fail "$longest columns: $(cat out.txt)"
}
says() { for words in "$@"; do grep -qF -- "$words" out.txt || fail "no \"$words\": $(cat out.txt)"; done; }

expect 0 'finished, 16 of 16 steps, epoch 2.00' env LC_ALL=C.UTF-8 "$bitcycle" show run
fits
says 'cifar_resnet8 on synthetic, seed 1' 'CR 3-8/8, backend simulate' 'training loss' \
  'validation accuracy' 'bits of weights and activations' '8 ┤' 'less than static' 'ms a step'
! grep -q '^note:' out.txt || fail "a whole run has notes: $(cat out.txt)"
expect 0 '8 |' env LC_ALL=C "$bitcycle" show run

# The figures are those of the run's own files.
number() { grep -oE "\"$2\": ?[0-9.e+-]+" "$1" | head -1 | grep -oE '[0-9.e+-]+$'; }
"$bitcycle" show run --json >show.json
for key in gbitops gbitops_static saving_percent; do
  [[ $(number show.json $key) == "$(number run/summary.json $key)" ]] || fail "$key: $(cat show.json)"
done
grep -q '"state": "finished"' show.json || fail "no state in JSON"

# Bits are those of every step, also where only the ends of cycles are logged.
"$bitcycle" train small.toml --set log_every=8 --run-dir sparse -q >/dev/null
plot_of_bits() { LC_ALL=C "$bitcycle" show "$1" | sed -n '/^bits of weights and/,$p'; }
diff <(plot_of_bits run) <(plot_of_bits sparse) || fail "bits between logged steps are not shown"
plot_of_bits sparse | grep -q '3 |' || fail "no step at 3 bits: $(plot_of_bits sparse)"

# A run that was stopped behind its last logged step: where it is, and up to where its cost is counted.
cp -r sparse behind && rm behind/summary.json
sed -i '/"type":"step","step":16,/d' behind/metrics.jsonl
expect 0 'stopped, 16 of 16 steps, epoch 2.00' "$bitcycle" show behind
says 'up to step 8, the last that was logged'
fits

# Before its first logged step nobody knows how long an epoch is.
sed -i '/"type":"step"/d' behind/metrics.jsonl
expect 0 'stopped, 16 of an unknown number of steps' "$bitcycle" show behind
! grep -q 'epoch' out.txt || fail "an epoch from nowhere: $(cat out.txt)"

# eval stores its results; the same evaluation replaces its entry; neither compare nor resume minds.
"$bitcycle" eval run --bits 4,fp >/dev/null
"$bitcycle" eval run --bits 4,8 --json >eval.json
[[ $(grep -c '"checkpoint": "best"' run/evaluations.json) == 3 ]] ||
  fail "expected three evaluations: $(cat run/evaluations.json)"
for value in $(grep -oE '"(accuracy|loss)": [0-9.]+' eval.json | cut -d' ' -f2); do
  grep -qF "$value" run/evaluations.json || fail "$value is not stored: $(cat run/evaluations.json)"
done
"$bitcycle" eval run --bits 4 --split validation --checkpoint last >/dev/null
expect 0 'validation' "$bitcycle" show run
fits
says 'evaluated' 'fp' 'last'
expect 0 'CR 3-8/8' "$bitcycle" compare run
expect 0 'accuracy' "$bitcycle" train run --resume -q
[[ $(grep -c '"checkpoint"' run/evaluations.json) == 4 ]] || fail "a resume changed evaluations.json"
cp -r run closed && rm closed/evaluations.json && mkdir closed/evaluations.json
expect 0 'note: the result is not stored with the run: ' "$bitcycle" eval closed --bits 4
says 'accuracy'

# Evaluations that end at the same time are all stored, and a page goes over no file of the run.
"$bitcycle" eval run --bits 3 >/dev/null & "$bitcycle" eval run --bits 5 >/dev/null & "$bitcycle" eval run --bits 7 >/dev/null &
wait
[[ $(grep -c '"checkpoint"' run/evaluations.json) == 7 ]] || fail "evaluations were lost: $(cat run/evaluations.json)"
expect 2 'is there already, and no page' "$bitcycle" report run -o run/metrics.jsonl
expect 0 'page.html' "$bitcycle" report run -o page.html
expect 0 'page.html' "$bitcycle" report run -o page.html

# Without its log a finished run still has its schedule; what was decided under way is lost with it.
cp -r run lost && : >lost/metrics.jsonl
expect 0 'note: metrics.jsonl holds no step of the run, which has finished.' env LC_ALL=C "$bitcycle" show lost
says 'finished, 16 of 16 steps'
diff <(plot_of_bits run | grep ' |') <(plot_of_bits lost | grep ' |') || fail "the schedule of a lost log"
rm lost/summary.json
expect 0 'note: No steps are logged yet.' env LC_ALL=C "$bitcycle" show lost
! grep -q '^bits of' out.txt || fail "bits of a run of unknown length: $(cat out.txt)"
cp -r run cut && sed -i '$ s/.$//' cut/metrics.jsonl && truncate -s -1 cut/metrics.jsonl
expect 0 'note: The last line of metrics.jsonl is cut.' "$bitcycle" show cut
echo '{"evaluations": {"a": 1}}' >cut/evaluations.json && rm cut/timing.jsonl
expect 0 'note: evaluations.json is damaged' "$bitcycle" show cut
says 'note: timing.jsonl is missing.'

# Unfinished, damaged and half-written runs: what can be read is shown.
cp -r run damaged && rm damaged/summary.json damaged/timing.jsonl
expect 0 'stopped, 16 of 16 steps' "$bitcycle" show damaged
head -c 900 run/metrics.jsonl >damaged/metrics.jsonl
expect 0 'stopped, ' "$bitcycle" show damaged
fits
sed -i '2s/.*/nonsense/' damaged/metrics.jsonl
expect 0 'note: Line 2 of metrics.jsonl cannot be read.' "$bitcycle" show damaged
echo 'epochs = ' >damaged/recipe.toml
expect 0 'note: The recipe cannot be read:' "$bitcycle" show damaged
fits
"$bitcycle" show damaged --json | grep -q '"model": null' || fail "the model of a damaged recipe"
rm damaged/recipe.toml && : >damaged/metrics.jsonl
expect 0 'note: recipe.toml is missing.' "$bitcycle" show damaged
says 'note: No steps are logged yet.'
rm damaged/metrics.jsonl damaged/layers.jsonl
expect 2 'is no run directory' "$bitcycle" show damaged
expect 2 'is no run directory' "$bitcycle" show nowhere

# Files that are none: what can be read is shown and reported.
for file in recipe.toml metrics.jsonl timing.jsonl summary.json evaluations.json; do
  cp -r run odd && rm odd/$file && mkdir odd/$file
  expect 0 "note: $file cannot be read." "$bitcycle" show odd
  expect 0 "$file cannot be read." "$bitcycle" report odd --json
  rmdir odd/$file && mkfifo odd/$file  # nobody waits for a writer
  expect 0 "note: $file cannot be read." timeout 20 "$bitcycle" show odd
  expect 0 "$file cannot be read." timeout 20 "$bitcycle" report odd --json
  for command in 'cost odd' 'schedule --run odd' 'train odd --resume' 'eval odd'; do
    timeout 60 "$bitcycle" $command >out.txt 2>&1 || [[ $? != 124 ]] || fail "$command waits for odd/$file"
  done
  rm odd/$file && ln -s $file odd/$file
  expect 0 "note: $file cannot be read." "$bitcycle" show odd
  expect 0 "$file cannot be read." "$bitcycle" report odd --json
  rm -r odd
done
cp -r run odd && rm odd/recipe.toml
expect 0 'recipe.toml is missing.' "$bitcycle" report odd --json
rm -r odd && mkdir odd && cp run/layers.jsonl odd
expect 0 'note: metrics.jsonl is missing.' "$bitcycle" show odd
expect 0 'recipe.toml is missing.' "$bitcycle" report odd --json

# Control characters, in names and in files, are letters to a terminal; and links may lead in a circle.
control=$'run\x1b[31m\nline'
cp -r run "$control" && sed -i '1s/"backend":[^,]*/"backend":"\\u001b[2J"/' "$control/metrics.jsonl"
expect 0 'run\x1b[31m\x0aline' "$bitcycle" show "$control"
says 'backend \x1b[2J'
ln -s circle circle
for command in show report compare eval; do expect 2 'circle' "$bitcycle" $command circle; done

# A report takes folders of runs; those of several are told apart.
mkdir -p folder/sweep other && cp -r run folder/a && cp -r run folder/sweep/b && cp -r run other/a
names() { "$bitcycle" report "$@" --json | grep -oE '"name":"[^"]*","group"' | cut -d'"' -f4 | tr '\n' ' '; }
[[ $(names folder) == 'a sweep/b ' ]] || fail "names within a folder: $(names folder)"
[[ $(names folder other run/) == 'folder/a folder/sweep/b other/a run ' ]] || fail "$(names folder other run/)"
mkdir nothing
expect 2 'is no run directory, and no folder of any' "$bitcycle" report nothing
expect 2 'there is no run directory "nowhere"' "$bitcycle" report nowhere

# A run goes on without files that it can do without.
mkdir -p blocked/layers.jsonl
expect 0 'warning: cannot write blocked/layers.jsonl' "$bitcycle" train small.toml --run-dir blocked -q
[[ $(grep -c warning out.txt) == 1 ]] || fail "expected one warning: $(cat out.txt)"
cmp run/metrics.jsonl blocked/metrics.jsonl || fail "the training differs"
expect 0 'accuracy' "$bitcycle" train small.toml --run-dir bare -q --set statistics_every=0 \
  --set tensorboard=false
[[ ! -e bare/layers.jsonl && ! -e bare/events.out.tfevents.bitcycle ]] || fail "files that nobody wanted"

# What looking at layers costs is measured.
"$bitcycle" bench step --model cifar_resnet8 --batch 8 --repeats 2 --statistics --json >bench.json
grep -q '"statistics_percent"' bench.json || fail "bench step --statistics lacks statistics_percent"
figure() { grep -oE "\"$1\": [-0-9.e+]+" bench.json | cut -d' ' -f2; }
awk -v a="$(figure looked_step_ms)" -v b="$(figure step_ms)" -v p="$(figure statistics_percent)" \
  'BEGIN { d = p - (a / b - 1) / 2; exit !(d * d < 1e-6) }' ||
  fail "statistics_percent is not of one look in two hundred steps: $(cat bench.json)"
expect 0 'looking at one step in 200,' "$bitcycle" bench step --model cifar_resnet8 --batch 8 \
  --repeats 1 --statistics
