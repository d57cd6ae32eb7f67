#pragma once

// AVX2 dot products at the levels of Note [Exact dot products].

#include "kernels/integer/isa/avx2/dot.h"

namespace bitcycle::integer::avx2 {
namespace {

// 6 sums and 6 chains.
constexpr int kLevelPixels = 3;

// The two ways to multiply bytes, and to make 16-bit numbers of them.
struct UnsignedSource {
  static constexpr Broadcast kBytes = Broadcast::is_unsigned;
  static Wide widen_source(__m256i source, __m256i) { return widen_unsigned(source); }
  static Wide widen_weights(__m256i weights) { return widen_signed(weights); }
  static __m256i start(const DotJob&, int) { return _mm256_setzero_si256(); }
};
struct SignedSource {
  static constexpr Broadcast kBytes = Broadcast::is_signed;
  static Wide widen_source(__m256i source, __m256i zero) {
    const Wide codes = widen_unsigned(source);
    return {_mm256_sub_epi16(codes.even, zero), _mm256_sub_epi16(codes.odd, zero)};
  }
  static Wide widen_weights(__m256i weights) { return widen_unsigned(weights); }
  static __m256i start(const DotJob& job, int p) { return _mm256_set1_epi32(job.start[p]); }
};

constexpr int kWholeRow = 16;  // as a chain
using LevelSums = Lanes[kLevelPixels];

[[gnu::always_inline]] inline void add_lanes(const LevelSums& lanes, LevelSums& sums) {
  unroll<kLevelPixels>([&](auto p) {
    sums[p] = {add_widened(sums[p].low, lanes[p].low), add_widened(sums[p].high, lanes[p].high)};
  });
}

// One chain of kSteps steps, added up in 16 bits.
template <typename Source, int kSteps>
[[gnu::always_inline]] inline void add_chain(const Sources<kLevelPixels>& sources,
                                             std::ptrdiff_t at, const std::int8_t* w,
                                             LevelSums& sums) {
  Lanes lanes[kLevelPixels];
  unroll<kSteps>([&](auto s) {
    const Lanes weights{load(w + s * kStepBytes), load(w + s * kStepBytes + 32)};
    unroll<kLevelPixels>([&](auto p) {
      const std::uint8_t* bytes = sources.pixel[p] + at + s * 4;
      lanes[p] = s == 0 ? multiply<Source::kBytes>(bytes, weights)
                        : multiply_add<Source::kBytes>(lanes[p], bytes, weights);
    });
  });
  add_lanes(lanes, sums);
}

// One step in 16-bit operands.
template <typename Source>
[[gnu::always_inline]] inline void add_wide(const Sources<kLevelPixels>& sources, std::ptrdiff_t at,
                                            const std::int8_t* w, __m256i zero, LevelSums& sums) {
  const Wide weights[2] = {Source::widen_weights(load(w)), Source::widen_weights(load(w + 32))};
  unroll<kLevelPixels>([&](auto p) {
    const Wide a = Source::widen_source(broadcast(sources.pixel[p] + at), zero);
    const auto dot = [&](const Wide& by) {
      return _mm256_add_epi32(_mm256_madd_epi16(a.even, by.even), _mm256_madd_epi16(a.odd, by.odd));
    };
    sums[p] = {_mm256_add_epi32(sums[p].low, dot(weights[0])),
               _mm256_add_epi32(sums[p].high, dot(weights[1]))};
  });
}

// All steps of a segment in one chain; answers where the next weights are.
template <typename Source>
[[gnu::always_inline]] inline const std::int8_t* add_row(const Sources<kLevelPixels>& sources,
                                                         const Segment& segment,
                                                         const std::int8_t* w, LevelSums& sums) {
  LevelSums lanes;
  const __m256i zero = _mm256_setzero_si256();
  unroll<kLevelPixels>([&](auto p) { lanes[p] = {zero, zero}; });
  std::ptrdiff_t at = segment.offset;
  const std::ptrdiff_t end = at + segment.steps * 4;
#pragma GCC unroll 4
  for (; at < end; at += 4, w += kStepBytes) {
    const Lanes weights{load(w), load(w + 32)};
    unroll<kLevelPixels>([&](auto p) {
      lanes[p] = multiply_add<Source::kBytes>(lanes[p], sources.pixel[p] + at, weights);
    });
  }
  add_lanes(lanes, sums);
  return w;
}

// All steps of a segment in chains of kChain; answers where the next weights are. kChain = 0:
// 16-bit operands.
template <typename Source, int kChain>
[[gnu::always_inline]] inline const std::int8_t* add_segment(const Sources<kLevelPixels>& sources,
                                                             const Segment& segment,
                                                             const std::int8_t* w, __m256i zero,
                                                             LevelSums& sums) {
  std::ptrdiff_t at = segment.offset;
  const std::ptrdiff_t end = at + segment.steps * 4;
  if constexpr (kChain > 0) {
    for (; at + kLevelSteps * 4 <= end; at += kLevelSteps * 4, w += kLevelSteps * kStepBytes) {
      unroll<kLevelSteps / kChain>([&](auto i) {
        add_chain<Source, kChain>(sources, at + i * kChain * 4, w + i * kChain * kStepBytes, sums);
      });
    }
  }
  for (; at < end; at += 4, w += kStepBytes) {
    if constexpr (kChain > 0) add_chain<Source, 1>(sources, at, w, sums);
    if constexpr (kChain == 0) add_wide<Source>(sources, at, w, zero, sums);
  }
  return w;
}

template <typename Source, int kChain>
[[gnu::noinline]] void dot_level_block(const DotJob& job, int block) {
  const Sources<kLevelPixels> sources(job, block);
  const __m256i zero = _mm256_set1_epi16(static_cast<short>(job.zero));
  const std::int8_t* w = job.panel;
  LevelSums sums;
  unroll<kLevelPixels>([&](auto p) {
    const __m256i start = Source::start(job, block * kLevelPixels + p);
    sums[p] = {start, start};
  });
  for (const Segment& segment : job.segments) {
    if constexpr (kChain == kWholeRow) {
      w = add_row<Source>(sources, segment, w, sums);
    } else {
      w = add_segment<Source, kChain>(sources, segment, w, zero, sums);
    }
  }
  std::int32_t* const out = job.sums + block * kLevelPixels * kPanel;
  unroll<kLevelPixels>([&](auto p) {
    save(out + p * kPanel, sums[p].low);
    save(out + p * kPanel + 8, sums[p].high);
  });
}

template <typename Source, int kChain>
void dot_level(const DotJob& job) {
  for (int i = 0; i < job.blocks; ++i) dot_level_block<Source, kChain>(job, job.order[i]);
}

template <typename Source>
constexpr LevelDots kLevelDots{{dot_level<Source, kWholeRow>, dot_level<Source, 4>,
                                dot_level<Source, 2>, dot_level<Source, 1>, dot_level<Source, 0>}};

}  // namespace
}  // namespace bitcycle::integer::avx2
