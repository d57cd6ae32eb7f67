#pragma once

// AVX2 passes over codes: pixel sums and interleaving.

#include "kernels/integer/isa/avx2/registers.h"
#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/unroll.h"

namespace bitcycle::integer::avx2 {
namespace {

// Calls `four` for whole runs of 4 pixels and, on a copy, for the last few: results of pixels that
// do not exist are dropped.
template <typename T, typename Four>
[[gnu::always_inline]] inline void by_four(const std::uint8_t* codes, int pixels, int channels,
                                           T* sums, Four four) {
  for (; pixels >= 4; pixels -= 4, codes += 4 * std::ptrdiff_t{channels}, sums += 4) {
    four([&](int i) { return codes + i * std::ptrdiff_t{channels}; }, sums);
  }
  if (pixels == 0) return;
  T rest[4];
  four([&](int i) { return codes + (i < pixels ? i : 0) * std::ptrdiff_t{channels}; }, rest);
  std::memcpy(sums, rest, static_cast<std::size_t>(pixels) * sizeof(T));
}

// The sum of a pixel's first `whole` codes, a multiple of 16, in two halves of 64 bits.
inline __m128i half_sums(const std::uint8_t* codes, int whole) {
  __m128i sums = _mm_setzero_si128();
  for (int c = 0; c < whole; c += 16) {
    sums = _mm_add_epi64(sums, _mm_sad_epu8(load16(codes + c), _mm_setzero_si128()));
  }
  return sums;
}

void pixel_sums(const std::uint8_t* codes, int pixels, int channels, std::int32_t* sums) {
  const int whole = channels / 16 * 16;
  by_four(codes, pixels, channels, sums, [&](auto pixel, std::int32_t* out) {
    __m128i p[4];
    unroll<4>([&](auto i) { p[i] = half_sums(pixel(i), whole); });
    const __m128i first = _mm_or_si128(p[0], _mm_slli_epi64(p[1], 32));
    const __m128i second = _mm_or_si128(p[2], _mm_slli_epi64(p[3], 32));
    save16(out,
           _mm_add_epi32(_mm_unpacklo_epi64(first, second), _mm_unpackhi_epi64(first, second)));
    for (int c = whole; c < channels; ++c) {
      for (int i = 0; i < 4; ++i) out[i] += pixel(i)[c];
    }
  });
}

// lanes + weights * (codes - zero), for 8 codes
inline __m256 add_weighted(__m256 lanes, const std::uint8_t* codes, const float* weights,
                           __m256i zero) {
  const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes));
  const __m256i differences = _mm256_sub_epi32(_mm256_cvtepu8_epi32(eight), zero);
  return _mm256_fmadd_ps(_mm256_loadu_ps(weights), _mm256_cvtepi32_ps(differences), lanes);
}

// Each pixel's ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), the order that vhaddps adds in. Weights
// are padded with zeros, and codes past a pixel's last are some code, so a tail needs no care.
void weighted_pixel_sums(const std::uint8_t* codes, int pixels, int channels, int zero,
                         const float* weights, float* sums) {
  const __m256i zeros = _mm256_set1_epi32(zero);
  by_four(codes, pixels, channels, sums, [&](auto pixel, float* out) {
    __m256 lanes[4];
    unroll<4>([&](auto i) { lanes[i] = _mm256_setzero_ps(); });
    for (int c = 0; c < channels; c += 8) {
      unroll<4>(
          [&](auto i) { lanes[i] = add_weighted(lanes[i], pixel(i) + c, weights + c, zeros); });
    }
    const __m256 quads =
        _mm256_hadd_ps(_mm256_hadd_ps(lanes[0], lanes[1]), _mm256_hadd_ps(lanes[2], lanes[3]));
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(quads), _mm256_extractf128_ps(quads, 1)));
  });
}

inline void interleave_step(const __m128i (&rows)[4], __m128i subtract, std::uint8_t* panel) {
  const __m128i low01 = _mm_unpacklo_epi8(rows[0], rows[1]);
  const __m128i high01 = _mm_unpackhi_epi8(rows[0], rows[1]);
  const __m128i low23 = _mm_unpacklo_epi8(rows[2], rows[3]);
  const __m128i high23 = _mm_unpackhi_epi8(rows[2], rows[3]);
  save16(panel, _mm_sub_epi8(_mm_unpacklo_epi16(low01, low23), subtract));
  save16(panel + 16, _mm_sub_epi8(_mm_unpackhi_epi16(low01, low23), subtract));
  save16(panel + 32, _mm_sub_epi8(_mm_unpacklo_epi16(high01, high23), subtract));
  save16(panel + 48, _mm_sub_epi8(_mm_unpackhi_epi16(high01, high23), subtract));
}

// Inline as AVX-512 has its own.
inline void interleave(const std::uint8_t* source, std::ptrdiff_t stride, int pixels,
                       std::uint8_t subtract, std::uint8_t* panel) {
  const __m128i bias = _mm_set1_epi8(static_cast<char>(subtract));
  for (; pixels >= 4; pixels -= 4, source += 4 * stride, panel += kStepBytes) {
    const __m128i rows[4] = {load16(source), load16(source + stride), load16(source + 2 * stride),
                             load16(source + 3 * stride)};
    interleave_step(rows, bias, panel);
  }
  if (pixels == 0) return;
  __m128i rows[4] = {bias, bias, bias, bias};  // become 0
  for (int i = 0; i < pixels; ++i) rows[i] = load16(source + i * stride);
  interleave_step(rows, bias, panel);
}

}  // namespace
}  // namespace bitcycle::integer::avx2
