#pragma once

// AVX2 dot products: a block of pixels times a panel of 16 channels. 4 source bytes are broadcast,
// the panel's step is two registers of 8 channels x 4 bytes.

#include "kernels/integer/isa/avx2/registers.h"
#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/unroll.h"

namespace bitcycle::integer::avx2 {
namespace {

// 12 accumulators, two registers of weights, one broadcast, one product: all 16 registers.
constexpr int kLongPixels = 6;

// sum += term, in place. Written as an instruction because gcc otherwise moves accumulators between
// registers and the stack in loops that use all 16; there it costs half the speed.
inline void accumulate(__m256i& sum, __m256i term) {
  asm("vpaddw %1, %0, %0" : "+x"(sum) : "x"(term));
}

// The loops that need every register are written as instructions on two fixed ones, which leaves
// gcc only those to allocate that live longer. Operands go through locals: gcc keeps an array in
// memory once one of its elements is an operand.
struct Lanes {
  __m256i low, high;  // 8 channels each
};

// 4 broadcast bytes times two registers of 8 x 4; `kBytes` tells which side is signed.
enum class Broadcast { is_unsigned, is_signed };
template <Broadcast kBytes>
[[gnu::always_inline]] inline Lanes multiply(const void* bytes, Lanes by) {
  const __m256i four = broadcast(bytes);
  const bool is_signed = kBytes == Broadcast::is_signed;
  return is_signed ? Lanes{_mm256_maddubs_epi16(by.low, four), _mm256_maddubs_epi16(by.high, four)}
                   : Lanes{_mm256_maddubs_epi16(four, by.low), _mm256_maddubs_epi16(four, by.high)};
}
// The same, added to `lanes`.
template <Broadcast kBytes>
[[gnu::always_inline]] inline Lanes multiply_add(Lanes lanes, const void* bytes, Lanes by) {
  const auto& four = *static_cast<const char(*)[4]>(bytes);
  __m256i low = lanes.low;
  __m256i high = lanes.high;
  if constexpr (kBytes == Broadcast::is_unsigned) {
    asm("vpbroadcastd %4, %%ymm14\n\t"
        "vpmaddubsw %2, %%ymm14, %%ymm15\n\tvpaddw %%ymm15, %0, %0\n\t"
        "vpmaddubsw %3, %%ymm14, %%ymm15\n\tvpaddw %%ymm15, %1, %1"
        : "+x"(low), "+x"(high)
        : "x"(by.low), "x"(by.high), "m"(four)
        : "xmm14", "xmm15");
  } else {
    asm("vpbroadcastd %4, %%ymm14\n\t"
        "vpmaddubsw %%ymm14, %2, %%ymm15\n\tvpaddw %%ymm15, %0, %0\n\t"
        "vpmaddubsw %%ymm14, %3, %%ymm15\n\tvpaddw %%ymm15, %1, %1"
        : "+x"(low), "+x"(high)
        : "x"(by.low), "x"(by.high), "m"(four)
        : "xmm14", "xmm15");
  }
  return {low, high};
}
// 16-bit lanes to 32 bits and into a sum; the constant stays in memory.
[[gnu::always_inline]] inline __m256i add_widened(__m256i sum, __m256i lanes) {
  alignas(32) static constexpr std::int16_t kOnes[16] = {1, 1, 1, 1, 1, 1, 1, 1,
                                                         1, 1, 1, 1, 1, 1, 1, 1};
  asm("vpmaddwd %2, %1, %%ymm15\n\tvpaddd %%ymm15, %0, %0"
      : "+x"(sum)
      : "x"(lanes), "m"(kOnes)
      : "xmm15");
  return sum;
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
  Sources(const DotJob& job, int block) {
    unroll<kPixels>([&](auto p) { pixel[p] = job.source + job.offsets[block * kPixels + p]; });
  }
};

// 16-bit accumulation over whole segments; widened into memory where a segment asks for it.
[[gnu::noinline]] void dot_long_block(const DotJob& job, int block) {
  constexpr int kPixels = kLongPixels;
  const Sources<kPixels> sources(job, block);
  const std::int8_t* w = job.panel;
  std::int32_t* const sums = job.sums + block * kPixels * kPanel;
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
      std::int32_t* out = sums + i * 8;
      const __m256i sum = widened(lanes[i / 2][i % 2]);
      save(out, first ? sum : _mm256_add_epi32(sum, load(out)));
    });
    clear();
    first = false;
  }
}

void dot_long(const DotJob& job) {
  for (int i = 0; i < job.blocks; ++i) dot_long_block(job, i);
}

}  // namespace
}  // namespace bitcycle::integer::avx2
