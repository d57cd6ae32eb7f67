#!/usr/bin/env bash
# With an empty compiler cache of its own: what was compiled in one checkout is not compiled again in
# another one at another path, with the precompiled header or without.
# Skipped (77) without ccache, and where the sources are no git checkout.
source "$(dirname "$0")/lib.sh"
source=$(cd "$here/../.." && pwd)
[[ -d $source/.git ]] && command -v ccache >/dev/null || exit 77
export CCACHE_DIR=$work/ccache CCACHE_CONFIGPATH=/dev/null
objects=(src/CMakeFiles/bitcycle_core.dir/base/error.cpp.o
         src/CMakeFiles/bitcycle_torch.dir/nn/quant_conv.cpp.o)

build() {
  git clone -q "$source" "$1"
  cmake -S "$1" -B "$1/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBITCYCLE_TESTS=OFF >/dev/null
  ccache --zero-stats >/dev/null
  ninja -C "$1/build" "${objects[@]}" >/dev/null
  ccache --print-stats >stats.txt
}
stat_of() { awk -v key="$1" '$1 == key {print $2}' stats.txt; }

build one
[[ $(stat_of cache_miss) == 3 ]] || fail "expected to compile a header and two files: $(cat stats.txt)"
build elsewhere/two
[[ $(stat_of cache_miss) == 0 && $(stat_of direct_cache_hit) == 3 ]] ||
  fail "compiled again in another checkout: $(cat stats.txt)"
