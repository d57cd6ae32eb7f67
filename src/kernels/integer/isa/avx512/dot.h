#pragma once

// Dot products with VNNI: 8 pixels against one panel of weights, or against two, where one
// broadcast of a pixel's bytes serves two multiplications. vpdpbusd takes 5 cycles and two start a
// cycle, so 16 accumulators keep it busy; a single panel has two a pixel, for even and odd steps.

#include "kernels/integer/isa/avx2/registers.h"
#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/unroll.h"

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

// Whether kPixels pixels from `first` on are neighbours, so that a tap of one is the next tap of
// the one before. The ends alone do not tell: blocks may reach over the end of a row, and the last
// one is filled up with repetitions.
template <int kPixels>
[[gnu::always_inline]] inline bool neighbours(const DotJob& job, int first) {
  const std::int32_t* offsets = job.offsets + first;
  std::int32_t wrong = job.tap_bytes == 0;
  unroll<kPixels>([&](auto p) { wrong |= offsets[p] - offsets[0] - p * job.tap_bytes; });
  return wrong == 0;
}

// Rows of three taps over neighbours: a broadcast serves three pixels, each with another tap's
// weights.
template <int kPanels, int kPixels>
[[gnu::noinline]] void dot_neighbours(const DotJob& job, int first) {
  constexpr int kTaps = 3;
  __m512i sums[kPanels][kPixels];
  unroll<kPanels * kPixels>(
      [&](auto i) { sums[i / kPixels][i % kPixels] = _mm512_setzero_si512(); });
  const std::int8_t* w = job.panel;
  const std::ptrdiff_t tap = job.tap_bytes;
  const std::ptrdiff_t tap_weights = tap * kPanel;
  for (const Segment& segment : job.segments) {
    const std::uint8_t* row = job.source + job.offsets[first] + segment.offset;
    for (const std::uint8_t* end = row + tap; row < end; row += 4, w += kStepBytes) {
      __m512i weights[kPanels][kTaps];
      unroll<kPanels * kTaps>([&](auto i) {
        weights[i / kTaps][i % kTaps] =
            load64(w + i / kTaps * job.panel_bytes + i % kTaps * tap_weights);
      });
      const std::uint8_t* column = row;
      unroll<kPixels + kTaps - 1>([&](auto c) {
        const __m512i bytes = broadcast64(column);
        column += tap;
        asm("" : "+r"(column));  // one pointer, not one a column
        unroll<kPanels * kTaps>([&](auto i) {
          constexpr int p = c - i % kTaps;
          if constexpr (p >= 0 && p < kPixels) {
            __m512i& sum = sums[i / kTaps][p];
            sum = _mm512_dpbusd_epi32(sum, bytes, weights[i / kTaps][i % kTaps]);
          }
        });
      });
    }
    w += (kTaps - 1) * tap_weights;
  }
  unroll<kPanels * kPixels>([&](auto i) {
    std::int32_t* out = job.sums + i / kPixels * job.panel_sums + first * kPanel;
    _mm512_storeu_si512(out + i % kPixels * kPanel, sums[i / kPixels][i % kPixels]);
  });
}

// One panel has accumulators for two blocks at once.
void dot(const DotJob& job) {
  constexpr int kTwo = 2 * kDotPixels;
  for (int block = 0; block < job.blocks; ++block) {
    const int first = block * kDotPixels;
    if (job.panels == 2) {
      neighbours<kDotPixels>(job, first) ? dot_neighbours<2, kDotPixels>(job, first)
                                         : dot_block<2>(job, block);
    } else if (block + 1 < job.blocks && neighbours<kTwo>(job, first)) {
      dot_neighbours<1, kTwo>(job, first);
      ++block;
    } else {
      dot_block<1>(job, block);
    }
  }
}

}  // namespace
}  // namespace bitcycle::integer::avx512
