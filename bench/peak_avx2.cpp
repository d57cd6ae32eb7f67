// The loops are written in assembly so that no compiler can improve on them. 12 independent
// accumulators hide the latency of every instruction.

#include "peak.h"

namespace bitcycle::bench {
namespace {

#define BITCYCLE_TIMES_12(one)                                                                  \
  one("4") one("5") one("6") one("7") one("8") one("9") one("10") one("11") one("12") one("13") \
      one("14") one("15")
#define BITCYCLE_CHAINED(r) \
  "vpmaddubsw %%ymm1, %%ymm0, %%ymm2; vpaddw %%ymm2, %%ymm" r ", %%ymm" r ";"
#define BITCYCLE_WIDENED(r)                                             \
  "vpmaddubsw %%ymm1, %%ymm0, %%ymm2; vpmaddwd %%ymm1, %%ymm2, %%ymm2;" \
  "vpaddd %%ymm2, %%ymm" r ", %%ymm" r ";"
#define BITCYCLE_WIDE(r) "vpmaddwd %%ymm1, %%ymm0, %%ymm2; vpaddd %%ymm2, %%ymm" r ", %%ymm" r ";"
#define BITCYCLE_LOOP(one)                                                                     \
  for (std::int64_t i = 0; i < rounds; ++i) {                                                  \
    asm volatile(BITCYCLE_TIMES_12(one)::                                                      \
                     : "xmm0", "xmm1", "xmm2", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", \
                       "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");                  \
  }

}  // namespace

std::int64_t run_mix_avx2(Mix mix, std::int64_t rounds) {
  switch (mix) {
    case Mix::chained:
      BITCYCLE_LOOP(BITCYCLE_CHAINED) return rounds * 12 * 32;
    case Mix::widened:
      BITCYCLE_LOOP(BITCYCLE_WIDENED) return rounds * 12 * 32;
    default:
      BITCYCLE_LOOP(BITCYCLE_WIDE) return rounds * 12 * 16;
  }
}

}  // namespace bitcycle::bench
