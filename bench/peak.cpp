#include "peak.h"

namespace bitcycle::bench {

Mix mix_of(Isa isa, int chain) {
  if (isa == Isa::avx512) return Mix::vnni;
  return chain >= 2 ? Mix::chained : Mix::widened;
}

std::int64_t run_mix(Mix mix, std::int64_t rounds) {
  return mix == Mix::vnni ? run_mix_avx512(rounds) : run_mix_avx2(mix, rounds);
}

}  // namespace bitcycle::bench
