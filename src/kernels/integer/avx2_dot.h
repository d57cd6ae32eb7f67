#pragma once

// AVX2 dot products: a block of pixels times a panel of 16 channels. 4 source bytes are broadcast,
// the panel's step is two registers of 8 channels x 4 bytes.

#include "kernels/integer/avx2_registers.h"
#include "kernels/integer/microkernels.h"
#include "kernels/integer/unroll.h"

namespace bitcycle::integer::avx2 {
namespace {

// 12 accumulators, two registers of weights, one broadcast, one product: all 16 registers.
constexpr int kLongPixels = 6;
constexpr int kShortPixels = 4;

// sum += term, in place. Written as an instruction because gcc otherwise moves accumulators between
// registers and the stack in loops that use all 16; there it costs half the speed.
inline void accumulate(__m256i& sum, __m256i term) {
  asm("vpaddw %1, %0, %0" : "+x"(sum) : "x"(term));
}

// Bytes as 16-bit lanes: the even ones and the odd ones, each lane aligned with its partner's.
struct Wide {
  __m256i even;
  __m256i odd;
};
inline Wide widen_unsigned(__m256i v) {
  return {_mm256_and_si256(v, _mm256_set1_epi16(0xff)), _mm256_srli_epi16(v, 8)};
}
inline Wide widen_signed(__m256i v) {
  return {_mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8), _mm256_srai_epi16(v, 8)};
}

template <int kPixels>
struct Sources {
  const std::uint8_t* pixel[kPixels];
  explicit Sources(const DotJob& job) {
    unroll<kPixels>([&](auto p) { pixel[p] = job.source + job.offsets[p]; });
  }
};

// 16-bit accumulation over whole segments; widened into memory where a segment asks for it.
[[gnu::noinline]] void dot_long(const DotJob& job) {
  constexpr int kPixels = kLongPixels;
  const Sources<kPixels> sources(job);
  const std::int8_t* w = job.panel;
  __m256i lanes[kPixels][2];
  const auto clear = [&] {
    unroll<kPixels * 2>([&](auto i) { lanes[i / 2][i % 2] = _mm256_setzero_si256(); });
  };
  clear();
  bool first = true;
  for (const Segment& segment : job.segments) {
    const std::ptrdiff_t end = segment.offset + segment.steps * 4;
    for (std::ptrdiff_t at = segment.offset; at < end; at += 4, w += kStepBytes) {
      const __m256i w0 = load(w);
      const __m256i w1 = load(w + 32);
      unroll<kPixels>([&](auto p) {
        const __m256i a = broadcast(sources.pixel[p] + at);
        accumulate(lanes[p][0], _mm256_maddubs_epi16(a, w0));
        accumulate(lanes[p][1], _mm256_maddubs_epi16(a, w1));
      });
    }
    if (!segment.flush) continue;
    unroll<kPixels * 2>([&](auto i) {
      std::int32_t* out = job.sums + i * 8;
      const __m256i sum = widened(lanes[i / 2][i % 2]);
      save(out, first ? sum : _mm256_add_epi32(sum, load(out)));
    });
    clear();
    first = false;
  }
}

// Sums 32 bits wide in registers; `multiply` adds the products of one step and one pixel.
template <typename Multiply>
[[gnu::always_inline]] inline void dot_in_32_bits(const DotJob& job, Multiply multiply) {
  const Sources<kShortPixels> sources(job);
  const std::int8_t* w = job.panel;
  __m256i sums[kShortPixels][2];
  unroll<kShortPixels * 2>([&](auto i) { sums[i / 2][i % 2] = _mm256_setzero_si256(); });
  for (const Segment& segment : job.segments) {
    const std::ptrdiff_t end = segment.offset + segment.steps * 4;
    for (std::ptrdiff_t at = segment.offset; at < end; at += 4, w += kStepBytes) {
      unroll<kShortPixels>([&](auto p) { multiply(sums[p], broadcast(sources.pixel[p] + at), w); });
    }
  }
  unroll<kShortPixels * 2>([&](auto i) { save(job.sums + i * 8, sums[i / 2][i % 2]); });
}

[[gnu::noinline]] void dot_short(const DotJob& job) {
  dot_in_32_bits(job, [](__m256i(&sums)[2], __m256i bytes, const std::int8_t* w) {
    unroll<2>([&](auto half) {
      const __m256i lanes = _mm256_maddubs_epi16(bytes, load(w + half * 32));
      sums[half] = _mm256_add_epi32(sums[half], widened(lanes));
    });
  });
}

// Both operands flipped in their top bit: the weights become unsigned, the source signed.
[[gnu::noinline]] void dot_signed(const DotJob& job) {
  dot_in_32_bits(job, [](__m256i(&sums)[2], __m256i bytes, const std::int8_t* w) {
    const __m256i top = _mm256_set1_epi8(-128);
    const __m256i flipped = _mm256_xor_si256(bytes, top);
    unroll<2>([&](auto half) {
      const __m256i weights = _mm256_xor_si256(load(w + half * 32), top);
      const __m256i lanes = _mm256_maddubs_epi16(weights, flipped);
      sums[half] = _mm256_add_epi32(sums[half], widened(lanes));
    });
  });
}

[[gnu::noinline]] void dot_wide(const DotJob& job) {
  dot_in_32_bits(job, [](__m256i(&sums)[2], __m256i bytes, const std::int8_t* w) {
    const Wide source = widen_unsigned(bytes);
    unroll<2>([&](auto half) {
      const Wide weights = widen_signed(load(w + half * 32));
      sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(source.even, weights.even));
      sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(source.odd, weights.odd));
    });
  });
}

}  // namespace
}  // namespace bitcycle::integer::avx2
