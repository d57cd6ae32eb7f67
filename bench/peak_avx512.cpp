#include "peak.h"

namespace bitcycle::bench {

std::int64_t run_mix_avx512(std::int64_t rounds) {
#define BITCYCLE_VNNI(r) "vpdpbusd %%zmm1, %%zmm0, %%zmm" r ";"
  for (std::int64_t i = 0; i < rounds; ++i) {
    asm volatile(BITCYCLE_VNNI("4") BITCYCLE_VNNI("5") BITCYCLE_VNNI("6") BITCYCLE_VNNI("7")
                     BITCYCLE_VNNI("8") BITCYCLE_VNNI("9") BITCYCLE_VNNI("10") BITCYCLE_VNNI("11")
                         BITCYCLE_VNNI("12") BITCYCLE_VNNI("13") BITCYCLE_VNNI("14")
                             BITCYCLE_VNNI("15")::
                                 : "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                                   "xmm12", "xmm13", "xmm14", "xmm15");
  }
#undef BITCYCLE_VNNI
  return rounds * 12 * 64;
}

}  // namespace bitcycle::bench
