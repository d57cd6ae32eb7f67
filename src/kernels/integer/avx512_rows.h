#pragma once

// Interleaving for backward-weights with AVX-512: four pixels of 16 bytes are one register, and its
// transposition a shuffle of 32-bit words and one of bytes.

#include "kernels/integer/avx2_registers.h"
#include "kernels/integer/microkernels.h"

namespace bitcycle::integer::avx512 {
namespace {

inline __m512i joined(__m128i a, __m128i b, __m128i c, __m128i d) {
  const __m512i ab = _mm512_inserti32x4(_mm512_castsi128_si512(a), b, 1);
  return _mm512_inserti32x4(_mm512_inserti32x4(ab, c, 2), d, 3);
}

// [4][16] bytes to [16][4].
inline __m512i transposed(__m512i rows) {
  const __m512i words = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  const __m512i bytes =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(words, rows), bytes);
}

void interleave(const std::uint8_t* source, std::ptrdiff_t stride, int pixels,
                std::uint8_t subtract, std::uint8_t* panel) {
  using avx2::load16;
  const __m512i bias = _mm512_set1_epi8(static_cast<char>(subtract));
  for (; pixels >= 4; pixels -= 4, source += 4 * stride, panel += kStepBytes) {
    const __m512i rows = joined(load16(source), load16(source + stride),
                                load16(source + 2 * stride), load16(source + 3 * stride));
    _mm512_storeu_si512(panel, _mm512_sub_epi8(transposed(rows), bias));
  }
  if (pixels == 0) return;
  const __m128i empty = _mm_set1_epi8(static_cast<char>(subtract));  // becomes 0
  __m128i rows[4] = {empty, empty, empty, empty};
  for (int i = 0; i < pixels; ++i) rows[i] = load16(source + i * stride);
  _mm512_storeu_si512(
      panel, _mm512_sub_epi8(transposed(joined(rows[0], rows[1], rows[2], rows[3])), bias));
}

}  // namespace
}  // namespace bitcycle::integer::avx512
