#!/usr/bin/env bash
# docs/weights.md against PyTorch itself, both ways. Skipped where torchvision and safetensors are not
# installed (Debian 13: python3-torchvision python3-safetensors).
source "$(dirname "$0")/../cli/lib.sh"
page=$here/../../docs/weights.md
pytorch() { /usr/bin/python3 "$here/weights_in_pytorch.py" "$page" "$@"; }
/usr/bin/python3 -c 'import torchvision, safetensors' 2>/dev/null || { echo 'there is no torchvision'; exit 77; }

pytorch in
pytorch pictures
awk '/^```toml/ { inside = 1; next } /^```/ { inside = 0 } inside' "$page" >page.toml
"$bitcycle" train page.toml --run-dir runs/pictures --set steps=4 --set data.image_size=56 --set data.batch_size=8 \
  -q >/dev/null 2>log.txt || fail "the page's recipe: $(cat log.txt)"
grep -q '"fc.weight"' runs/pictures/weights.json || fail "no word of the classifier: $(cat runs/pictures/weights.json)"

"$bitcycle" predict runs/pictures pictures --bits fp --checkpoint last --json >answers.json
pytorch out runs/pictures/checkpoints/step-00000004/model.safetensors <answers.json

cifar=(model.name=cifar_resnet20 data.dataset=image_folder data.root=pictures data.image_size=56 data.batch_size=8 steps=4)
"$bitcycle" train "$here/../../recipes/own-pictures.toml" "${cifar[@]/#/--set=}" --run-dir runs/cifar -q >/dev/null 2>log.txt ||
  fail "a network for CIFAR: $(cat log.txt)"
"$bitcycle" predict runs/cifar pictures --bits fp --checkpoint last --json >answers.json
pytorch cifar runs/cifar/checkpoints/step-00000004/model.safetensors <answers.json
