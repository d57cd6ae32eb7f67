#pragma once

// AVX2 outer products for backward-weights: 4 outputs x 16 columns at a time, 4 pixels a step.

#include "kernels/integer/isa/avx2/dot.h"

namespace bitcycle::integer::avx2 {
namespace {

constexpr int kOutputs = 4;  // 8 accumulators, so that chains and broadcasts stay in registers

inline void add_to(std::int32_t* out, __m256i sum) {
  save(out, _mm256_add_epi32(load(out), sum));
}

template <int kSteps>
[[gnu::always_inline]] inline Lanes chain_of(const Lanes (&columns)[kSteps],
                                             const std::int8_t* errors) {
  Lanes lanes = multiply<Broadcast::is_signed>(errors, columns[0]);
  unroll<kSteps - 1>([&](auto k) {
    lanes =
        multiply_add<Broadcast::is_signed>(lanes, errors + (k + 1) * kStepBytes, columns[k + 1]);
  });
  return lanes;
}

// Chains of 1 or 2 steps, with 32-bit sums in registers.
template <int kChain>
[[gnu::noinline]] void quartets_short(const QuartetsJob& job, const std::int8_t* errors,
                                      std::int32_t* out) {
  Lanes sums[kOutputs];
  unroll<kOutputs>([&](auto o) { sums[o] = {_mm256_setzero_si256(), _mm256_setzero_si256()}; });
  for (const QuartetChain& chain : job.chains) {
    const std::uint8_t* c = job.columns + chain.columns;
    const std::int8_t* e = errors + chain.errors;
    for (int s = 0; s < kQuartetSteps; s += kChain, c += kChain * 64, e += kChain * kStepBytes) {
      Lanes columns[kChain];
      unroll<kChain>([&](auto k) {
        columns[k] = {load(c + k * kStepBytes), load(c + k * kStepBytes + 32)};
      });
      unroll<kOutputs>([&](auto o) {
        const Lanes lanes = chain_of<kChain>(columns, e + o * 4);
        sums[o] = {add_widened(sums[o].low, lanes.low), add_widened(sums[o].high, lanes.high)};
      });
    }
  }
  unroll<kOutputs>([&](auto o) {
    add_to(out + o * kPanel, sums[o].low);
    add_to(out + o * kPanel + 8, sums[o].high);
  });
}

// The steps of a quartet into a chain; its first quartet starts it.
template <bool kFirst>
[[gnu::always_inline]] inline void add_quartet(const std::uint8_t* c, const std::int8_t* e,
                                               Lanes (&lanes)[kOutputs]) {
  unroll<kQuartetSteps>([&](auto k) {
    const Lanes columns{load(c + k * kStepBytes), load(c + k * kStepBytes + 32)};
    unroll<kOutputs>([&](auto o) {
      const std::int8_t* bytes = e + k * kStepBytes + o * 4;
      lanes[o] = kFirst && k == 0 ? multiply<Broadcast::is_signed>(bytes, columns)
                                  : multiply_add<Broadcast::is_signed>(lanes[o], bytes, columns);
    });
  });
}

// Whole chains, added up in memory: sums and chains together would need more registers than
// there are.
[[gnu::noinline]] void quartets_long(const QuartetsJob& job, const std::int8_t* errors,
                                     std::int32_t* out) {
  for (const QuartetChain& chain : job.chains) {
    const std::uint8_t* c = job.columns + chain.columns;
    const std::int8_t* e = errors + chain.errors;
    Lanes lanes[kOutputs];
    add_quartet<true>(c, e, lanes);
    for (int u = 1; u < chain.quartets; ++u) {
      add_quartet<false>(c + u * kQuartetSteps * kStepBytes, e + u * kQuartetSteps * kStepBytes,
                         lanes);
    }
    unroll<kOutputs>([&](auto o) {
      add_to(out + o * kPanel, widened(lanes[o].low));
      add_to(out + o * kPanel + 8, widened(lanes[o].high));
    });
  }
}

// The kernel for all outputs, of one for kOutputs.
template <auto kPart>
void quartets_in_parts(const QuartetsJob& job) {
  for (int o = 0; o < kPanel; o += kOutputs) kPart(job, job.errors + o * 4, job.sums + o * kPanel);
}

// Quartets in 16-bit operands, two outputs: more would not leave registers for the operands.
[[gnu::noinline]] void quartets_wide_part(const QuartetsJob& job, const std::int8_t* errors,
                                          std::int32_t* out) {
  constexpr int kWideOutputs = 2;
  const __m256i zero = _mm256_set1_epi8(static_cast<char>(job.zero));
  const __m256i wide_zero = _mm256_set1_epi16(static_cast<short>(job.zero));
  Lanes sums[kWideOutputs];
  unroll<kWideOutputs>([&](auto o) {
    sums[o] = {load(out + o * kPanel), load(out + o * kPanel + 8)};
  });
  for (const QuartetChain& chain : job.chains) {
#pragma GCC unroll 1  // unrolled, gcc would run out of registers
    for (int s = 0; s < kQuartetSteps; ++s) {
      const std::uint8_t* columns = job.columns + chain.columns + s * kStepBytes;
      const Wide low = widen_unsigned(load(columns));
      const Wide high = widen_unsigned(load(columns + 32));
      unroll<kWideOutputs>([&](auto o) {
        const __m256i bytes = broadcast(errors + chain.errors + s * kStepBytes + o * 4);
        const Wide codes = widen_unsigned(_mm256_add_epi8(bytes, zero));
        const __m256i even = _mm256_sub_epi16(codes.even, wide_zero);
        const __m256i odd = _mm256_sub_epi16(codes.odd, wide_zero);
        const auto dot = [&](const Wide& c) {
          return _mm256_add_epi32(_mm256_madd_epi16(c.even, even), _mm256_madd_epi16(c.odd, odd));
        };
        sums[o] = {_mm256_add_epi32(sums[o].low, dot(low)),
                   _mm256_add_epi32(sums[o].high, dot(high))};
      });
    }
  }
  unroll<kWideOutputs>([&](auto o) {
    save(out + o * kPanel, sums[o].low);
    save(out + o * kPanel + 8, sums[o].high);
  });
}

void quartets_wide(const QuartetsJob& job) {
  for (int o = 0; o < kPanel; o += 2)
    quartets_wide_part(job, job.errors + o * 4, job.sums + o * kPanel);
}

constexpr std::array<QuartetsKernel, kQuartetLevels> kQuartets{
    quartets_in_parts<quartets_long>, quartets_in_parts<quartets_short<2>>,
    quartets_in_parts<quartets_short<1>>, quartets_wide};

}  // namespace
}  // namespace bitcycle::integer::avx2
