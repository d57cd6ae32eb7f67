#!/usr/bin/env bash
# Both ways to use the library from another project: an installed package, and a subdirectory.
# usage: package_test.sh path/to/bitcycle path/to/build
source "$(dirname "$0")/lib.sh"
build=${2:?usage: $0 path/to/bitcycle path/to/build}
source=$(cd "$here/../.." && pwd)
# Compiled once for all runs of this test, whose folder has another name each time.
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=/ CCACHE_NOHASHDIR=1
fi
expected='3 3 4 5 6 6 7 8 3 3 4 5 6 6 7 8'

cmake --install "$build" --prefix "$work/prefix" >/dev/null
"$work/prefix/bin/bitcycle" schedule CR --csv >/dev/null
cmake -S "$source/examples/own_model" -B installed -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build installed >/dev/null
[[ $(installed/print_schedule) == "$expected" ]] || fail "find_package: wrong schedule"
[[ $(installed/compose_schedule | tail -1) == 'cost 0.'* ]] || fail "compose_schedule: no cost"
[[ $(installed/count_cost) == *' GBitOPs' ]] || fail "count_cost: no cost"
if [[ -x $work/prefix/libexec/bitcycle/bitcycle-torch ]]; then
  for example in own_model own_network own_precision; do
    installed/$example >$example.txt || fail "find_package: $example did not learn"
  done
  # But for the accuracy, which may differ between releases of LibTorch.
  while IFS= read -r line; do
    grep -qF -- "$line" own_network.txt || fail "docs/cpp.md: own_network does not print: $line"
  done < <(awk '/^It prints/ { wanted = 1 } wanted && /^```/ { if (inside++) exit; next }
                wanted && inside && !/^accuracy/' "$source/docs/cpp.md")
  [[ $(installed/fused_unit) == '[2, 32, 8, 8]' ]] || fail "find_package: fused_unit"
  installed/own_run run >/dev/null || fail "find_package: own_run did not train"
  "$work/prefix/bin/bitcycle" eval run --bits 8 >/dev/null || fail "own_run left no run"
  installed/own_run run >again.txt || fail "own_run did not resume"
  installed/own_task circle >/dev/null || fail "find_package: own_task did not learn"
  installed/own_task circle >/dev/null || fail "own_task did not resume"
  ! grep -q '^step' again.txt || fail "own_run did not go on where it stood: $(<again.txt)"
fi

# Beside the build's folder and with its warnings, so that ccache knows the core's files from there.
export CCACHE_BASEDIR=$source
subdirectory=$build-subdirectory
trap 'rm -rf "$work" "$subdirectory"' EXIT
cmake -S "$source/examples/own_model" -B "$subdirectory" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DBITCYCLE_CHECKOUT="$source" -DBITCYCLE_TORCH=OFF \
  -DBITCYCLE_WERROR="$(sed -n 's/^BITCYCLE_WERROR:BOOL=//p' "$build/CMakeCache.txt")" >/dev/null
cmake --build "$subdirectory" --target print_schedule >/dev/null
[[ $("$subdirectory/print_schedule") == "$expected" ]] || fail "add_subdirectory: wrong schedule"
[[ ! -e $subdirectory/bitcycle/bin/bitcycle ]] || fail "add_subdirectory: built the tool unasked"
