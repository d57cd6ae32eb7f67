#pragma once

// The loops behind run_mix(), one source file an instruction set.

#include "bitcycle/kernels/peak.h"

namespace bitcycle {

std::int64_t run_mix_avx2(Mix mix, std::int64_t rounds);
std::int64_t run_mix_avx512(Mix mix, std::int64_t rounds);

// The loops are written in assembly so that no compiler can improve on them. 12 independent
// accumulators hide the latency of every instruction; they start from 0, because floats that happen
// to be denormal would be slow.
#define BITCYCLE_TIMES_12(one)                                                                  \
  one("4") one("5") one("6") one("7") one("8") one("9") one("10") one("11") one("12") one("13") \
      one("14") one("15")
#define BITCYCLE_ZERO(r) "vpxor %%xmm" r ", %%xmm" r ", %%xmm" r ";"
#define BITCYCLE_LOOP(one)                                                                         \
  asm volatile(BITCYCLE_ZERO("0") BITCYCLE_ZERO("1") BITCYCLE_TIMES_12(                            \
                   BITCYCLE_ZERO) "1:" BITCYCLE_TIMES_12(one) "dec %0; jnz 1b; vzeroupper"         \
               : "+r"(left)::"cc", "xmm0", "xmm1", "xmm2", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", \
                 "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")

}  // namespace bitcycle
