# What a test of documentation finds around it: a reader's folder, and three ways to run `bitcycle`.
#   as_is     the program; in_full is another name for it
#   in_short  trainings take two steps, of made-up pictures where theirs are not at hand
#   checked   command lines and recipes are checked by the program, and what it would hand over to
#             bitcycle-torch is taken for done: what a block of commands has trained is a small run;
#             sweeps are listed, and a server is ended once it serves
# Nothing reaches the network, and no data but the system's are found.

# script PATH: makes an executable script of stdin.
script() {
  { echo '#!/usr/bin/env bash'; cat; } >"$1"
  chmod +x "$1"
}

make_ways_to_run() {
  mkdir as_is in_short checked program tools
  ln -s "$bitcycle" as_is/bitcycle
  ln -s as_is in_full
  script in_short/bitcycle <<SH
[[ \$1 == sweep || \$1 == train && ! -e \$2/recipe.toml ]] || exec "$bitcycle" "\$@"
limit=32
! grep -qs '_lm"' "\$2" || limit=2000  # tokens
short=("$bitcycle" "\$@" --set steps=2 --set data.limit=\$limit --set lr_schedule.warmup_steps=0)
status=0
printed=\$("\${short[@]}" 2>&1) || status=\$?
((status != 0)) && missing-data <<<"\$printed" || { echo "\$printed"; exit \$status; }
exec "\${short[@]}" --set data.dataset=synthetic
SH
  script checked/bitcycle <<SH
program=$work/program/bitcycle
case \$1 in
  sweep | reproduce) exec "\$program" "\$@" --dry-run ;;
  watch) timeout 2 "\$program" "\$@" --port 0; ((\$? == 124)) ;;  # it serves until it is ended
  *) exec "\$program" "\$@" ;;
esac
SH
  # The program looks for the other one beside itself, which a link would not change.
  cp "$bitcycle" program/bitcycle
  script program/bitcycle-torch <<SH
[[ \$1 == train && \$language == sh ]] || exit 0
run=runs/\$(basename "\$2" .toml)
for ((i = 3; i < \$#; ++i)); do
  [[ \${!i} != --run-dir ]] || { next=\$((i + 1)); run=\${!next}; }
done
[[ -e \$2/recipe.toml ]] || small-run "\$run"
SH
  # Is its input the words of a command that lacked data? Those of the system and those that are made
  # must be found and read: an error about them is one.
  script tools/missing-data <<'SH'
grep -qE '^bitcycle: (data error: (cifar100?|ptb|wikitext(2|103)) was not found in |network error: )'
SH
  # small-run DIRECTORY: makes sure that there is a run.
  script tools/small-run <<SH
[[ ! -e \$1 ]] || exit 0
[[ -e "$work/small" ]] ||
  "$bitcycle" train "$work/small.toml" --set steps=2 --set data.limit=32 --run-dir "$work/small" -q >/dev/null
mkdir -p "\$(dirname "\$1")" && cp -r "$work/small" "\$1"
SH
  script tools/make <<SH
/usr/bin/make -n -C "$source" "\$@" >/dev/null || exit
[[ \$1 != demo ]] || "$source/scripts/demo" "$work/$length/bitcycle"
SH
  for tool in apt-get cmake git sudo tensorboard; do script "tools/$tool" <<<'exit'; done
}

# Files that pages speak of.
make_reader_folder() {
  mkdir -p reader/home
  cp -r "$source/recipes" recipes  # above the program, which looks for them by name
  ln -s ../recipes reader/recipes
  for class in cat dog; do
    for i in 0 1 2 3; do
      picture "reader/pictures/train/$class/000$i.jpg"
      picture "reader/pictures/val/$class/010$i.jpg"
    done
  done
  for _ in {1..400}; do echo 'It is a truth universally acknowledged.'; done >reader/book.txt
}

# perform FOLDER COMMANDS: in the reader's folder, with the programs of FOLDER first on the path.
perform() {
  (cd "$work/reader" && PATH=$work/$1:$work/tools:$PATH language=$language bash -e -c "$2") \
    >"$work/printed" 2>&1 </dev/null
}
first_error() { grep -m1 '^bitcycle: ' "$work/printed" || tail -1 "$work/printed"; }
# missing_data: all that the command lacked was data that people get for themselves, or a connection.
missing_data() { "$work/tools/missing-data" <"$work/printed"; }

set_stage() {
  length=${length:-in_short}
  small_recipe
  make_ways_to_run
  make_reader_folder
  unset BITCYCLE_DATA XDG_DATA_HOME
  export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 HOME=$work/reader/home https_proxy=http://127.0.0.1:9 http_proxy=http://127.0.0.1:9
}
