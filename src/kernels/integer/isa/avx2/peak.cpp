#include "kernels/integer/isa/peak_loops.h"

namespace bitcycle {

#define BITCYCLE_CHAINED(r) \
  "vpmaddubsw %%ymm1, %%ymm0, %%ymm2; vpaddw %%ymm2, %%ymm" r ", %%ymm" r ";"
#define BITCYCLE_WIDENED(r)                                             \
  "vpmaddubsw %%ymm1, %%ymm0, %%ymm2; vpmaddwd %%ymm1, %%ymm2, %%ymm2;" \
  "vpaddd %%ymm2, %%ymm" r ", %%ymm" r ";"
#define BITCYCLE_WIDE(r) "vpmaddwd %%ymm1, %%ymm0, %%ymm2; vpaddd %%ymm2, %%ymm" r ", %%ymm" r ";"
#define BITCYCLE_FMA(r) "vfmadd231ps %%ymm1, %%ymm0, %%ymm" r ";"

std::int64_t run_mix_avx2(Mix mix, std::int64_t rounds) {
  std::int64_t left = rounds;
  switch (mix) {
    case Mix::chained:
      BITCYCLE_LOOP(BITCYCLE_CHAINED);
      return rounds * 12 * 32;
    case Mix::widened:
      BITCYCLE_LOOP(BITCYCLE_WIDENED);
      return rounds * 12 * 32;
    case Mix::wide:
      BITCYCLE_LOOP(BITCYCLE_WIDE);
      return rounds * 12 * 16;
    default:
      BITCYCLE_LOOP(BITCYCLE_FMA);
      return rounds * 12 * 8;
  }
}

}  // namespace bitcycle
