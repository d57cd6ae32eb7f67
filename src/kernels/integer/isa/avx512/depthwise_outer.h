#pragma once

// Depthwise backward-weights with VNNI, 16 channels at a time: the errors of four neighbouring
// pixels are a register of quads, and so are the codes under each tap of theirs. From one tap to
// the next they move on by one byte. Only for 3 x 3 taps and errors that are 8-bit numbers once
// their zero point is taken off; the rest is left to isa/avx2/depthwise.h.

#include "kernels/integer/isa/avx2/depthwise.h"
#include "kernels/integer/isa/avx512/quads.h"

namespace bitcycle::integer::avx512 {
namespace {

constexpr int kOuterKernel = 3;

// The codes under three neighbouring taps of a row, for four pixels.
struct TapQuads {
  __m512i at[kOuterKernel];
};

// The quads moved on by one pixel, to p.
inline __m512i moved_on(__m512i quads, const std::uint8_t* p) {
  return placed<kQuad - 1>(_mm512_srli_epi32(quads, 8), p);
}

enum class Window { starts, goes_on };

// `taps` of the four pixels before become those of the pixels from p on.
template <int kStride, Window kWindow>
[[gnu::always_inline]] inline void take_taps(const std::uint8_t* p, std::ptrdiff_t pixel_bytes,
                                             TapQuads& taps) {
  if constexpr (kStride == 1) {
    if constexpr (kWindow == Window::starts) {
      taps.at[0] = gathered<kQuad>(p, pixel_bytes);
    } else {
      taps.at[0] = moved_on(moved_on(taps.at[2], p + 2 * pixel_bytes), p + 3 * pixel_bytes);
    }
    taps.at[1] = moved_on(taps.at[0], p + 4 * pixel_bytes);
    taps.at[2] = moved_on(taps.at[1], p + 5 * pixel_bytes);
  } else {
    taps.at[0] = gathered<kQuad>(p, kStride * pixel_bytes);
    taps.at[1] = gathered<kQuad>(p + pixel_bytes, kStride * pixel_bytes);
    static_assert(kStride == 2);
    taps.at[2] = moved_on(taps.at[0], p + 8 * pixel_bytes);
  }
}

// What a job adds up. A zero point z of the source is taken off at the end:
// sum e (q - z) = sum e q - z sum e.
template <int kStride>
struct DepthwiseOuterSums {
  __m512i products[kOuterKernel][kOuterKernel];
  __m512i errors = _mm512_setzero_si512();

  [[gnu::always_inline]] DepthwiseOuterSums() {
    each([](__m512i& sum, int) { sum = _mm512_setzero_si512(); });
  }

  template <typename Use>
  [[gnu::always_inline]] void each(Use use) {
    unroll<kOuterKernel * kOuterKernel>(
        [&](auto t) { use(products[t / kOuterKernel][t % kOuterKernel], t); });
  }

  template <Window kWindow>
  [[gnu::always_inline]] void add(__m512i error, const std::uint8_t* source,
                                  const DepthwiseOuterJob& job, TapQuads (&rows)[kOuterKernel]) {
    errors = _mm512_dpbusd_epi32(errors, ones(kQuad), error);
    unroll<kOuterKernel>([&](auto ky) {
      take_taps<kStride, kWindow>(source + ky * job.source_row_bytes, job.pixel_bytes, rows[ky]);
      unroll<kOuterKernel>([&](auto kx) {
        products[ky][kx] = _mm512_dpbusd_epi32(products[ky][kx], rows[ky].at[kx], error);
      });
    });
  }

  // Pixels that do not fill a quad are made up to one with pixels before them, whose errors then
  // count as zero.
  [[gnu::always_inline]] void add_row(const DepthwiseOuterJob& job, const std::uint8_t* e,
                                      const std::uint8_t* source) {
    const __m512i zero = _mm512_set1_epi8(static_cast<char>(job.error_zero));
    const std::ptrdiff_t pixel = job.pixel_bytes;
    const auto errors_of = [&](int x) __attribute__((always_inline)) {
      return _mm512_sub_epi8(gathered<kQuad>(e + x * pixel, pixel), zero);
    };
    TapQuads rows[kOuterKernel];
    add<Window::starts>(errors_of(0), source, job, rows);
    int x = kQuad;
    for (; x + kQuad <= job.columns; x += kQuad) {
      add<Window::goes_on>(errors_of(x), source + x * kStride * pixel, job, rows);
    }
    if (x == job.columns) return;
    const int done = x - (job.columns - kQuad);
    x = job.columns - kQuad;
    const __m512i last = _mm512_and_si512(errors_of(x), _mm512_set1_epi32(-1 << (8 * done)));
    add<Window::starts>(last, source + x * kStride * pixel, job, rows);
  }

  void add_to(const DepthwiseOuterJob& job) {
    const __m512i excess = _mm512_mullo_epi32(errors, _mm512_set1_epi32(job.source_zero));
    each([&](__m512i& sum, int tap) {
      std::int32_t* to = job.sums + tap * kPanel;
      const __m512i before = _mm512_loadu_si512(to);
      _mm512_storeu_si512(to, _mm512_add_epi32(before, _mm512_sub_epi32(sum, excess)));
    });
  }
};

template <int kStride>
void depthwise_outer_rows(const DepthwiseOuterJob& job) {
  DepthwiseOuterSums<kStride> sums;
  for (int y = 0; y < job.rows; ++y) sums.add_row(job, job.error_row(y), job.source_row(y, 0));
  sums.add_to(job);
}

void depthwise_outer(const DepthwiseOuterJob& job) {
  const bool quads = job.byte_errors && job.kernel == kOuterKernel && job.columns >= kQuad;
  if (quads && job.stride == 1) return depthwise_outer_rows<1>(job);
  if (quads && job.stride == 2) return depthwise_outer_rows<2>(job);
  avx2::depthwise_outer_any(job);
}

}  // namespace
}  // namespace bitcycle::integer::avx512
