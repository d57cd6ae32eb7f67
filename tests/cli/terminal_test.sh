#!/usr/bin/env bash
# What a person sees on a terminal; skipped (77) where none can be made, as in a bare chroot.
source "$(dirname "$0")/lib.sh"
script -qec true /dev/null >/dev/null 2>&1 || { echo "no pseudo-terminal can be had here"; exit 77; }
small_recipe

# On a terminal of 80 columns the live line fits, and begins with speed and time left.
script -qec "stty cols 80; '$bitcycle' train small.toml --run-dir terminal" typescript >/dev/null
tr '\r' '\n' <typescript | sed 's/\x1b\[K//g' | grep 'steps/s' >live.txt
grep -qE '^[0-9.e+]+ steps/s  [0-9]+ .* left  step [0-9]+/[0-9]+  ' live.txt || fail "$(head -3 live.txt)"
! grep -qE '^.{80,}$' live.txt || fail "the live line is too long: $(grep -E '^.{80,}$' live.txt | head -1)"
head -1 live.txt | grep -q "time left: not yet known" || fail "one step is taken for all: $(head -1 live.txt)"
