#pragma once

// The 512-bit operations that the AVX-512 passes and stores share. SIMDe lacks some of them: with
// BITCYCLE_SIMDE, emulated.h makes those from 256-bit halves, under the same names.

#if defined(BITCYCLE_SIMDE)
#include "kernels/integer/isa/avx512/emulated.h"
#else

#include "bitcycle/kernels/integer/tensor.h"

#include <cstdint>

#include <immintrin.h>

namespace bitcycle::integer::avx512 {
namespace {

using Mask = __mmask16;

inline __m512 half_to_float(__m256i v) {
  return _mm512_cvtph_ps(v);
}
inline __m256i float_to_half(__m512 v) {
  return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
}
inline __m512 int_to_float(__m512i v) {
  return _mm512_cvtepi32_ps(v);
}
// Rounds to nearest even, the mode that every thread starts in.
inline __m512i float_to_int(__m512 v) {
  return _mm512_cvtps_epi32(v);
}
// Of whole multiples.
inline __m512i quarter(__m512i v) {
  return _mm512_srai_epi32(v, 2);
}
inline __m512i widen_bytes(__m128i v) {
  return _mm512_cvtepu8_epi32(v);
}
inline __m512i widen_words(__m256i v) {
  return _mm512_cvtepu16_epi32(v);
}
inline __m128i low_bytes(__m512i v) {
  return _mm512_cvtepi32_epi8(v);
}

// The second operand wins against a NaN in the first.
inline __m512 min(__m512 a, __m512 b) {
  return _mm512_min_ps(a, b);
}
inline __m512 max(__m512 a, __m512 b) {
  return _mm512_max_ps(a, b);
}
inline Mask greater(__m512 a, __m512 b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
}
inline Mask equal(__m512 a, __m512 b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
inline __m512 select(Mask mask, __m512 yes, __m512 no) {
  return _mm512_mask_blend_ps(mask, no, yes);
}
inline __m512 or_zero(Mask mask, __m512 v) {
  return _mm512_maskz_mov_ps(mask, v);
}

// Elements outside the mask are not touched; they are read as 0.
inline __m512 load_some(const float* p, Mask mask) {
  return _mm512_maskz_loadu_ps(mask, p);
}
inline __m256i load_some(const Half* p, Mask mask) {
  return _mm256_maskz_loadu_epi16(mask, p);
}
inline __m128i load_some(const std::uint8_t* p, Mask mask) {
  return _mm_maskz_loadu_epi8(mask, p);
}
inline void store_some(float* p, Mask mask, __m512 v) {
  _mm512_mask_storeu_ps(p, mask, v);
}
inline void store_some(Half* p, Mask mask, __m256i v) {
  _mm256_mask_storeu_epi16(p, mask, v);
}
inline void store_some(std::uint8_t* p, Mask mask, __m128i v) {
  _mm_mask_storeu_epi8(p, mask, v);
}

}  // namespace
}  // namespace bitcycle::integer::avx512

#endif
