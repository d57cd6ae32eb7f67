#pragma once

// Dot products with VNNI: 8 pixels against one panel of weights, or against two, where one
// broadcast of a pixel's bytes serves two multiplications. vpdpbusd takes 5 cycles and two start a
// cycle, so 16 accumulators keep it busy; a single panel has two a pixel, for even and odd steps.

#include "kernels/integer/avx2_registers.h"
#include "kernels/integer/microkernels.h"
#include "kernels/integer/unroll.h"

namespace bitcycle::integer::avx512 {
namespace {

constexpr int kDotPixels = 8;
constexpr int kDotPanels = 2;

inline __m512i load64(const void* p) {
  return _mm512_loadu_si512(p);
}
inline __m512i broadcast64(const void* p) {
  std::int32_t bytes;
  std::memcpy(&bytes, p, 4);
  return _mm512_set1_epi32(bytes);
}

// What a block adds up: [pixel][panel] for two panels, [pixel][parity] for one.
struct DotSums {
  __m512i at[kDotPixels][2];

  [[gnu::always_inline]] DotSums() {
    unroll<kDotPixels * 2>([&](auto i) { at[i / 2][i % 2] = _mm512_setzero_si512(); });
  }
};

template <int kPanels>
[[gnu::noinline]] void dot_block(const DotJob& job, int block) {
  const std::uint8_t* pixels[kDotPixels];
  unroll<kDotPixels>([&](auto p) { pixels[p] = job.source + job.offsets[block * kDotPixels + p]; });
  DotSums sums;
  const std::int8_t* w = job.panel;
  const std::ptrdiff_t next = job.panel_bytes;
  const auto step = [&](std::ptrdiff_t at, auto parity) __attribute__((always_inline)) {
    __m512i weights[kPanels];
    unroll<kPanels>([&](auto i) { weights[i] = load64(w + i * next); });
    w += kStepBytes;
    unroll<kDotPixels>([&](auto p) {
      const __m512i bytes = broadcast64(pixels[p] + at);
      unroll<kPanels>([&](auto i) {
        __m512i& sum = sums.at[p][kPanels == 1 ? int{parity} : int{i}];
        sum = _mm512_dpbusd_epi32(sum, bytes, weights[i]);
      });
    });
  };
  constexpr int kUnrolled = 4;  // whole rows of taps, for most numbers of channels
  for (const Segment& segment : job.segments) {
    std::ptrdiff_t at = segment.offset;
    const std::ptrdiff_t end = at + segment.steps * 4;
    for (; at + (kUnrolled - 1) * 4 < end; at += kUnrolled * 4) {
      unroll<kUnrolled>([&](auto s) __attribute__((always_inline)) {
        step(at + s * 4, std::integral_constant<int, s % 2>{});
      });
    }
    for (; at < end; at += 4) step(at, std::integral_constant<int, 0>{});
  }
  std::int32_t* out = job.sums + block * kDotPixels * kPanel;
  unroll<kDotPixels>([&](auto p) {
    if constexpr (kPanels == 1) {
      _mm512_storeu_si512(out + p * kPanel, _mm512_add_epi32(sums.at[p][0], sums.at[p][1]));
    } else {
      unroll<kPanels>([&](auto i) {
        _mm512_storeu_si512(out + i * job.panel_sums + p * kPanel, sums.at[p][i]);
      });
    }
  });
}

void dot(const DotJob& job) {
  for (int block = 0; block < job.blocks; ++block) {
    job.panels == 1 ? dot_block<1>(job, block) : dot_block<2>(job, block);
  }
}

}  // namespace
}  // namespace bitcycle::integer::avx512
