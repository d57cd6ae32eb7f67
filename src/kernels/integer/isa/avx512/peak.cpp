#include "kernels/integer/isa/peak_loops.h"

namespace bitcycle {

#define BITCYCLE_VNNI(r) "vpdpbusd %%zmm1, %%zmm0, %%zmm" r ";"
#define BITCYCLE_FMA(r) "vfmadd231ps %%zmm1, %%zmm0, %%zmm" r ";"

std::int64_t run_mix_avx512(Mix mix, std::int64_t rounds) {
  std::int64_t left = rounds;
  if (mix == Mix::vnni) {
    BITCYCLE_LOOP(BITCYCLE_VNNI);
    return rounds * 12 * 64;
  }
  BITCYCLE_LOOP(BITCYCLE_FMA);
  return rounds * 12 * 16;
}

}  // namespace bitcycle
