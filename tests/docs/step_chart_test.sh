#!/usr/bin/env bash
# README's chart shows a measurement; its picture, its alternative text and docs/reproduction.md have the same figures.
# usage: step_chart_test.sh path/to/bitcycle
source "$(dirname "$0")/../cli/lib.sh"
root=$(realpath "$here/../..")

drawn=$(grep -oP '<text x="\d+" y="\d+">\K\d+(?=</text>)' "$root/docs/images/step.svg" | xargs)
read -ra figures <<<"$drawn"
((${#figures[@]} == 8)) || fail "expected eight figures in the picture, found: $drawn"
told=$(grep -oP '^!\[A training step of ResNet-38\K[^]]*' "$root/README.md" | grep -oP '\d+(?= (ms|MB))' | xargs)
[[ $told == "$drawn" ]] || fail "the picture shows $drawn, README's words for it say $told"

measured() { grep -qF -- "$1" "$root/docs/reproduction.md" || fail "reproduction.md lacks what the chart shows: $1"; }
measured "| ResNet-38, 128 | 3/8 | ${figures[6]} | ${figures[0]} |"
measured "| ResNet-38, 128 | 8/8 | ${figures[4]} |"
measured "757 to 962 ms, median ${figures[2]};"
measured "LibTorch's float keeps ${figures[1]} MB, the authors' way ${figures[3]} MB, Bitcycle ${figures[5]} MB at 8/8 and ${figures[7]} MB at 3/8."
