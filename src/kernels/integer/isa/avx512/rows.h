#pragma once

// Interleaving for backward-weights with AVX-512: four pixels of 16 bytes are one register, and its
// transposition a shuffle of 32-bit words and one of bytes.

#include "kernels/integer/isa/avx2/registers.h"
#include "kernels/integer/isa/microkernels.h"

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

// These two are as fast in 256 bits.
bool within(const std::uint8_t* codes, std::ptrdiff_t bytes, Span span) {
  __m256i lowest = _mm256_set1_epi8(-1);
  __m256i highest = _mm256_setzero_si256();
  std::ptrdiff_t i = 0;
  for (; i + 32 <= bytes; i += 32) {
    lowest = _mm256_min_epu8(lowest, avx2::load(codes + i));
    highest = _mm256_max_epu8(highest, avx2::load(codes + i));
  }
  const __m256i low = _mm256_set1_epi8(static_cast<char>(span.low));
  const __m256i high = _mm256_set1_epi8(static_cast<char>(span.high));
  const __m256i inside =
      _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_max_epu8(lowest, low), lowest),
                       _mm256_cmpeq_epi8(_mm256_min_epu8(highest, high), highest));
  bool fit = i == 0 || _mm256_movemask_epi8(inside) == -1;
  for (; i < bytes; ++i) fit = fit && codes[i] >= span.low && codes[i] <= span.high;
  return fit;
}

void step_sums(const std::uint8_t* panel, int steps, std::int32_t* sums) {
  const __m256i ones = _mm256_set1_epi8(1);
  __m256i total[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  for (int s = 0; s < steps; ++s, panel += kStepBytes) {
    total[0] =
        _mm256_add_epi32(total[0], avx2::widened(_mm256_maddubs_epi16(avx2::load(panel), ones)));
    total[1] = _mm256_add_epi32(total[1],
                                avx2::widened(_mm256_maddubs_epi16(avx2::load(panel + 32), ones)));
  }
  avx2::save(sums, total[0]);
  avx2::save(sums + 8, total[1]);
}

}  // namespace
}  // namespace bitcycle::integer::avx512
