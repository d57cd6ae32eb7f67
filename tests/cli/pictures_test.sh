#!/usr/bin/env bash
# Pictures of one's own: JPEG and PNG among strays, with and without sets to validate and to test on.
source "$(dirname "$0")/lib.sh"
for class in cat dog; do
  for i in $(seq 8); do picture "own/$class/$i.jpg"; done
  png "own/$class/drawn.png"
  png "own/$class/a-png-by-content.jpg"
done
echo 'taken in May' >own/cat/notes.txt
head -c 300 own/cat/1.jpg >own/cat/cut.jpg
touch own/dog/.DS_Store own/dog/empty.jpg
printf 'GIF89a' >own/dog/moving.gif
# A PNG that claims 30,000 x 30,000 pixels.
{ printf '\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x75\x30\0\0\x75\x30\x08\x02\0\0\0'; printf '\xe9\x45\x6f\xed\0\0\0\0IDAT'; } \
  >own/dog/bomb.png
cat >own.toml <<'TOML'
epochs = 2
log_every = 1
[model]
name = "cifar_resnet8"
[data]
dataset = "image_folder"
root = "own"
image_size = 16
batch_size = 4
validation = 0.2
test = 0.2
[optimizer]
lr = 0.01
TOML

# Strays are named, with what is wrong with each, and no list is long.
expect 0 'own: 6 files are skipped' "$bitcycle" train own.toml
for text in 'cat/notes.txt is no picture' 'cat/cut.jpg is damaged' 'dog/.DS_Store is hidden' \
  'dog/empty.jpg is empty' 'and 1 more'; do
  grep -qF "$text" out.txt || fail "expected $text: $(cat out.txt)"
done
grep -qF '4 of 20 pictures are tested on' out.txt || fail "no word of the split: $(cat out.txt)"
grep -qE 'step [0-9]+  evaluating on test at .* bits$' out.txt || fail "the last evaluations are silent: $(cat out.txt)"

grep -qF 'own: 2 classes; 12 pictures to train on, 4 to validate on, 4 to test on' out.txt ||
  fail "no sizes: $(cat out.txt)"

# The same pictures in the same run: fingerprints are functions of content.
"$bitcycle" train own.toml --run-dir again -q >/dev/null
same_runs runs/own again
cp -r own elsewhere
"$bitcycle" train own.toml --run-dir moved -q --set data.root=elsewhere >/dev/null
cmp again/metrics.jsonl moved/metrics.jsonl || fail "the place of a folder counts"
"$bitcycle" eval runs/own --json | grep -q '"samples": 4' || fail "eval does not see the test pictures"
"$bitcycle" eval runs/own --split validation --json | grep -q '"samples": 4' || fail "validation"

# From another directory they are found where the run was started; what is here comes after that.
(cd / && "$bitcycle" eval "$work/again" --json) | grep -q '"samples": 4' || fail "eval from elsewhere"
mkdir moved-away && cp -r again elsewhere moved-away/ && mv moved-away/elsewhere moved-away/own
sed -i 's|"directory":"[^"]*"|"directory":"/nowhere"|' moved-away/again/timing.jsonl
(cd moved-away && "$bitcycle" eval again --json) | grep -q '"samples": 4' || fail "eval of a moved run"

# Weights of a run that held out others of these pictures are told of, however their place is written;
# those of one that held out the same are not.
for root in own own/ ./own "$PWD/own"; do
  "$bitcycle" train own.toml --dry-run --set seed=2 --set model.weights=again --set data.root=$root >out.txt 2>&1
  grep -q 'again held out other samples of the same data (seed' out.txt || fail "$root: $(cat out.txt)"
done
"$bitcycle" train own.toml --dry-run --set model.weights=again --set data.root=./own >out.txt 2>&1
! grep -q 'held out' out.txt || fail "the same split is taken for another: $(cat out.txt)"

# Weights of a network that tells as many other classes apart.
mkdir others && cp -r own/cat others/cat && cp -r own/dog others/owl
expect 0 'again told other classes apart (dog there, owl here)' \
  "$bitcycle" train own.toml --dry-run --set model.weights=again --set data.root=others
! "$bitcycle" train own.toml --dry-run --set model.weights=again 2>&1 | grep -q 'other classes' ||
  fail "the same classes are taken for others"

# Pictures that are sorted by class give a score; eval has the same pictures' in its own way.
"$bitcycle" predict again own --top 1 >out.txt 2>err.txt || true
right=$(grep -cE '/(cat|dog)/[^/]*: \1 ' out.txt || true)
grep -qF "$right of 20 pictures in folders called like a class are taken for it" err.txt ||
  fail "expected $right of 20: $(cat out.txt err.txt)"
expect 3 '"in_folders_of_classes": {' "$bitcycle" predict again own --json

# Nor is the other half of them, which is other samples by intent.
"$bitcycle" train own.toml --run-dir half -q --set data.part=1/2 --set data.batch_size=2 >/dev/null
"$bitcycle" train own.toml --dry-run --set data.part=2/2 --set data.batch_size=2 --set model.weights=half >out.txt 2>&1
! grep -q 'held out' out.txt || fail "the other half is taken for changed files: $(cat out.txt)"

# More strays change nothing; another picture does.
echo more >own/cat/more.txt
expect 0 'test' "$bitcycle" eval runs/own
picture own/cat/9.jpg
expect 3 'the data are not those of the run' "$bitcycle" eval runs/own
expect 0 'same data (files have come or gone since)' "$bitcycle" train own.toml --dry-run --set model.weights=again

# Checking them: damage is an error, strays are none.
expect 3 'dog/bomb.png' "$bitcycle" data --root own --verify
cp -r own many
for i in $(seq 12); do cp many/cat/cut.jpg "many/cat/"$'cut\e[31m'"$i.jpg"; done
cp own/cat/1.jpg many/loose.jpg
expect 3 'and 4 more; --all names them' "$bitcycle" data --root many --verify
! grep -q $'\e' out.txt || fail "names of files reach the terminal: $(cat -v out.txt)"
! grep -A30 '^Damaged: 14 files' out.txt | grep -qE '^.{81,}' || fail "too wide: $(cat out.txt)"
for row in 'class  pictures' 'cat          11' 'dog          10' 'all          21'; do
  grep -qxF "$row" out.txt || fail "expected the row $row: $(cat out.txt)"
done
grep -qF 'loose.jpg lies beside the directories of the classes' out.txt || fail "a stray: $(cat out.txt)"
expect 3 'cut' "$bitcycle" data --root many --verify --all
[[ $(grep -c '^  cat/cut' out.txt) == 13 ]] && ! grep -q 'more; --all' out.txt || fail "not all: $(cat out.txt)"
expect 3 '"pictures": 11' "$bitcycle" data --root many --verify --json
# A class without pictures is one more thing that is wrong, and hides nothing.
mkdir many/emu
expect 3 'Without pictures: emu.' "$bitcycle" data --root many --verify --all
grep -qxF 'emu           0' out.txt && [[ $(grep -c '^  cat/cut' out.txt) == 13 ]] || fail "not all: $(cat out.txt)"
! grep -q fashion_mnist out.txt || fail "other datasets were not asked for: $(cat out.txt)"
expect 3 '"without_pictures": [' "$bitcycle" data --root many --verify --json
mkdir own/emu
expect 3 'Without pictures: emu.' "$bitcycle" data --root own --verify
expect 3 'has no pictures of 1 class: emu' "$bitcycle" train own.toml --dry-run
rmdir own/emu
rm own/cat/cut.jpg own/dog/bomb.png
expect 0 'intact' "$bitcycle" data --root own --verify

# Sets of one's own are used as they are.
mkdir -p sets && mv own sets/train
for set in val test; do for class in cat dog; do picture "sets/$set/$class/1.jpg"; done; done
expect 0 'accuracy' "$bitcycle" train own.toml --run-dir sets-run --set data.root=sets
"$bitcycle" eval sets-run --split validation --json | grep -q '"samples": 2' || fail "val/ is not used"
"$bitcycle" eval sets-run --json | grep -q '"samples": 2' || fail "test/ is not used"

# Classes: in other case, unknown, none.
mkdir -p sets/train/Dog && picture sets/train/Dog/1.jpg
expect 0 'differ in case alone' "$bitcycle" train own.toml --run-dir case --set data.root=sets
mv sets/test/dog sets/test/dgo
expect 3 'Did you mean' "$bitcycle" train own.toml --run-dir case2 --set data.root=sets
mkdir bare
expect 3 'has no class directories' "$bitcycle" train own.toml --run-dir bare-run --set data.root=bare
expect 3 'is not a directory' "$bitcycle" train own.toml --run-dir bare-run --set data.root=nowhere
