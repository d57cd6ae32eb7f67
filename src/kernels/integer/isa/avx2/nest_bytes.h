#pragma once

// isa/nest_bytes.h by 32 codes at a time. AVX-512 uses it too: its registers hold more, but it
// takes as long for them where 256 bits are what a unit multiplies in one go.

#include "kernels/integer/isa/avx2/registers.h"
#include "kernels/integer/isa/nest_bytes.h"

namespace bitcycle::integer::avx2 {
namespace {

inline void nest_bytes(std::uint8_t* codes, std::ptrdiff_t count, int largest) {
  const __m256i factor = _mm256_set1_epi16(static_cast<std::int16_t>(largest));
  const auto nested = [factor](__m256i twice) __attribute__((always_inline)) {
    return _mm256_mulhrs_epi16(_mm256_srli_epi16(twice, 1), factor);
  };
  std::ptrdiff_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m256i q = load(codes + i);
    // Both bytes of a word are the code: 257 q.
    save(codes + i, _mm256_packus_epi16(nested(_mm256_unpacklo_epi8(q, q)),
                                        nested(_mm256_unpackhi_epi8(q, q))));
  }
  integer::nest_bytes(codes + i, count - i, largest);
}

}  // namespace
}  // namespace bitcycle::integer::avx2
