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
if [[ -x $work/prefix/libexec/bitcycle/bitcycle-torch ]]; then
  installed/own_model || fail "find_package: own_model did not learn"
  installed/own_precision || fail "find_package: own_precision did not learn"
fi

cmake -S "$source/examples/own_model" -B subdirectory -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DBITCYCLE_CHECKOUT="$source" -DBITCYCLE_TORCH=OFF >/dev/null
cmake --build subdirectory --target print_schedule >/dev/null
[[ $(subdirectory/print_schedule) == "$expected" ]] || fail "add_subdirectory: wrong schedule"
[[ ! -e subdirectory/bitcycle/bin/bitcycle ]] || fail "add_subdirectory: built the tool unasked"

# Every piece of C++ in the guide stands in an example, line for line.
shown_code() {
  awk '/^```cpp/ { inside = 1; next } /^```/ { inside = 0 } inside && NF' "$source/docs/cpp.md"
}
shown_code | while IFS= read -r line; do
  grep -qxF -- "$line" "$source"/examples/own_model/*.cpp ||
    fail "docs/cpp.md shows code that no example has: $line"
done
