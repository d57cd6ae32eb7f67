#pragma once

// AVX2 depthwise backward-weights with 3 x 3 taps: 8 channels at a time, so that the nine sums stay
// in registers over all rows. Two neighbouring pixels are pairs of 16-bit lanes for vpmaddwd, which
// is exact for all operands.

#include "kernels/integer/isa/avx2/depthwise.h"

namespace bitcycle::integer::avx2 {
namespace {

constexpr int kOuterKernel = 3;
constexpr int kOuterChannels = 8;

inline __m256i pixel_pair(const std::uint8_t* a, const std::uint8_t* b) {
  return _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(load8(a), load8(b)));
}

// What a job adds up for 8 channels. A zero point z of the source is taken off at the end:
// sum e (q - z) = sum e q - z sum e.
template <int kStride>
struct DepthwiseOuterSums {
  __m256i products[kOuterKernel][kOuterKernel];
  __m256i errors = _mm256_setzero_si256();

  [[gnu::always_inline]] DepthwiseOuterSums() {
    each([](__m256i& sum, int) { sum = _mm256_setzero_si256(); });
  }

  template <typename Use>
  [[gnu::always_inline]] void each(Use use) {
    unroll<kOuterKernel * kOuterKernel>(
        [&](auto t) { use(products[t / kOuterKernel][t % kOuterKernel], t); });
  }

  // `tap(ky, kx)` is the pair under a tap.
  template <typename Tap>
  [[gnu::always_inline]] void add(__m256i error, Tap tap) {
    errors = _mm256_add_epi32(errors, _mm256_madd_epi16(error, _mm256_set1_epi16(1)));
    unroll<kOuterKernel * kOuterKernel>([&](auto t) {
      constexpr int kY = t / kOuterKernel;
      constexpr int kX = t % kOuterKernel;
      const __m256i pair =
          tap(std::integral_constant<int, kY>{}, std::integral_constant<int, kX>{});
      products[kY][kX] = _mm256_add_epi32(products[kY][kX], _mm256_madd_epi16(error, pair));
    });
  }

  [[gnu::always_inline]] void add_row(const DepthwiseOuterJob& job, const std::uint8_t* e,
                                      const std::uint8_t* source) {
    const __m256i zero = _mm256_set1_epi16(static_cast<short>(job.error_zero));
    const std::ptrdiff_t pixel = job.pixel_bytes;
    const std::ptrdiff_t row = job.source_row_bytes;
    // With a stride of 1 the pair under the last tap is the one under the next pixels' first.
    __m256i shared[kOuterKernel];
    if constexpr (kStride == 1) {
      unroll<kOuterKernel>(
          [&](auto ky) { shared[ky] = pixel_pair(source + ky * row, source + ky * row + pixel); });
    }
    int x = 0;
    for (; x + 2 <= job.columns; x += 2, e += 2 * pixel, source += 2 * kStride * pixel) {
      add(
          _mm256_sub_epi16(pixel_pair(e, e + pixel), zero), [&](auto ky, auto kx) __attribute__((
                                                                always_inline)) {
            if constexpr (kStride == 1 && kx == 0) return shared[ky];
            const std::uint8_t* p = source + ky * row + kx * pixel;
            const __m256i pair = pixel_pair(p, p + kStride * pixel);
            if constexpr (kStride == 1 && kx == 2) shared[ky] = pair;
            return pair;
          });
    }
    if (x == job.columns) return;
    // An odd last pixel is paired with itself, whose error then counts as zero.
    const __m256i last = _mm256_sub_epi16(pixel_pair(e, e), zero);
    add(
        _mm256_and_si256(last, _mm256_set1_epi32(0xffff)), [&](auto ky, auto kx)
                                                               __attribute__((always_inline)) {
                                                                 const std::uint8_t* p =
                                                                     source + ky * row + kx * pixel;
                                                                 return pixel_pair(p, p);
                                                               });
  }

  void add_to(std::int32_t* sums, int source_zero) {
    const __m256i excess = _mm256_mullo_epi32(errors, _mm256_set1_epi32(source_zero));
    each([&](__m256i& sum, int tap) {
      std::int32_t* to = sums + tap * kPanel;
      save(to, _mm256_add_epi32(load(to), _mm256_sub_epi32(sum, excess)));
    });
  }
};

template <int kStride>
void depthwise_outer_rows(const DepthwiseOuterJob& job) {
  for (int c = 0; c < kPanel; c += kOuterChannels) {
    DepthwiseOuterSums<kStride> sums;
    for (int y = 0; y < job.rows; ++y) {
      sums.add_row(job, job.error_row(y) + c, job.source_row(y, 0) + c);
    }
    sums.add_to(job.sums + c, job.source_zero);
  }
}

void depthwise_outer(const DepthwiseOuterJob& job) {
  if (job.kernel == kOuterKernel && job.stride == 1) return depthwise_outer_rows<1>(job);
  if (job.kernel == kOuterKernel && job.stride == 2) return depthwise_outer_rows<2>(job);
  depthwise_outer_any(job);
}

}  // namespace
}  // namespace bitcycle::integer::avx2
