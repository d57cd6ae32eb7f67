#pragma once

// Quads: four bytes of each of 16 channels side by side, as vpdpbusd adds them up. They are put
// together one source at a time: a load that repeats 16 bytes in every part of a register costs
// nothing, and one shuffle under a mask puts each byte into its place.

#include "kernels/integer/isa/avx2/registers.h"
#include "kernels/integer/isa/microkernels.h"

#include <array>

namespace bitcycle::integer::avx512 {
namespace {

// Channel c's byte, four times.
alignas(64) constexpr auto kSpread = [] {
  std::array<std::uint32_t, kPanel> spread{};
  for (std::uint32_t c = 0; c < kPanel; ++c) spread[c] = c * 0x01010101U;
  return spread;
}();

inline __m512i repeated(const std::uint8_t* p) {
  return _mm512_broadcast_i32x4(avx2::load16(p));
}

// Quads whose bytes are all those of p.
inline __m512i spread(const std::uint8_t* p) {
  return _mm512_shuffle_epi8(repeated(p), _mm512_load_si512(kSpread.data()));
}
// The quads with their byte kAt taken from p.
template <int kAt>
__m512i placed(__m512i quads, const std::uint8_t* p) {
  constexpr __mmask64 kPlace = 0x1111111111111111ULL << kAt;
  return _mm512_mask_shuffle_epi8(quads, kPlace, repeated(p), _mm512_load_si512(kSpread.data()));
}

// The first kCount bytes of the quads from p, p + step, ...; what follows is not defined.
template <int kCount>
__m512i gathered(const std::uint8_t* p, std::ptrdiff_t step) {
  __m512i quads = spread(p);
  if constexpr (kCount > 1) quads = placed<1>(quads, p + step);
  if constexpr (kCount > 2) quads = placed<2>(quads, p + 2 * step);
  if constexpr (kCount > 3) quads = placed<3>(quads, p + 3 * step);
  return quads;
}

// 1 in the first `count` bytes of every quad.
inline __m512i ones(int count) {
  return _mm512_set1_epi32(static_cast<int>(0x01010101U >> (8 * (kQuad - count))));
}

}  // namespace
}  // namespace bitcycle::integer::avx512
