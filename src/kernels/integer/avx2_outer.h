#pragma once

// AVX2 outer products for backward-weights: 4 outputs x 16 columns at a time, 4 pixels a step.

#include "kernels/integer/avx2_dot.h"

namespace bitcycle::integer::avx2 {
namespace {

constexpr int kOutputs = 4;  // 8 accumulators, so that chains and broadcasts stay in registers

inline void add_to(std::int32_t* out, __m256i sum) {
  save(out, _mm256_add_epi32(load(out), sum));
}

// Calls `part` with the job's data for each run of 4 outputs.
template <typename Part>
[[gnu::always_inline]] inline void each_part(const OuterJob& job, Part part) {
  for (int o = 0; o < kPanel; o += kOutputs) part(job.errors + o * 4, job.sums + o * kPanel);
}

[[gnu::noinline]] void outer_long_part(const OuterJob& job, const std::int8_t* first_error,
                                       std::int32_t* sums) {
  for (int n = 0; n < job.images; ++n) {
    const std::uint8_t* columns = job.columns + n * job.column_stride;
    const std::int8_t* errors = first_error + n * job.error_stride;
    for (int left = job.steps; left > 0; left -= job.chain) {
      __m256i lanes[kOutputs][2];
      unroll<kOutputs * 2>([&](auto i) { lanes[i / 2][i % 2] = _mm256_setzero_si256(); });
      const std::uint8_t* end = columns + std::ptrdiff_t{left < job.chain ? left : job.chain} * 64;
      for (; columns < end; columns += kStepBytes, errors += kStepBytes) {
        const __m256i c0 = load(columns);
        const __m256i c1 = load(columns + 32);
        unroll<kOutputs>([&](auto o) {
          const __m256i e = broadcast(errors + o * 4);
          accumulate(lanes[o][0], _mm256_maddubs_epi16(c0, e));
          accumulate(lanes[o][1], _mm256_maddubs_epi16(c1, e));
        });
      }
      unroll<kOutputs * 2>([&](auto i) { add_to(sums + i * 8, widened(lanes[i / 2][i % 2])); });
    }
  }
}

void outer_long(const OuterJob& job) {
  each_part(job, [&](auto* errors, auto* sums) { outer_long_part(job, errors, sums); });
}

// Calls `unit` for each part and unit of a job.
template <typename EachUnit>
[[gnu::always_inline]] inline void each_unit(const UnitsJob& job, EachUnit unit) {
  for (int o = 0; o < kPanel; o += kOutputs) {
    std::int32_t* sums = job.sums + o * kPanel;
    for (const Unit& u : job.units)
      unit(job.columns + u.columns, job.errors + u.errors + o * 4, sums);
  }
}

// A unit in chains of kChain steps, added up in memory: sums and chains together would need more
// registers than there are.
template <int kChain>
[[gnu::noinline]] void units_chained(const UnitsJob& job) {
  each_unit(job, [](const std::uint8_t* columns, const std::int8_t* errors, std::int32_t* out) {
    unroll<kUnitSteps / kChain>([&](auto chain) {
      Lanes lanes[kOutputs];
      unroll<kChain>([&](auto k) {
        constexpr int kAt = (chain * kChain + k) * kStepBytes;
        const Lanes c{load(columns + kAt), load(columns + kAt + 32)};
        unroll<kOutputs>([&](auto o) {
          const std::int8_t* e = errors + kAt + o * 4;
          lanes[o] = k == 0 ? multiply<Broadcast::is_signed>(e, c)
                            : multiply_add<Broadcast::is_signed>(lanes[o], e, c);
        });
      });
      unroll<kOutputs>([&](auto o) {
        add_to(out + o * kPanel, widened(lanes[o].low));
        add_to(out + o * kPanel + 8, widened(lanes[o].high));
      });
    });
  });
}

[[gnu::noinline]] void units_wide(const UnitsJob& job) {
  const __m256i zero = _mm256_set1_epi8(static_cast<char>(job.zero));
  const __m256i wide_zero = _mm256_set1_epi16(static_cast<short>(job.zero));
  each_unit(job, [&](const std::uint8_t* columns, const std::int8_t* errors, std::int32_t* out) {
    for (int s = 0; s < kUnitSteps; ++s, columns += kStepBytes, errors += kStepBytes) {
      const Wide c[2] = {widen_unsigned(load(columns)), widen_unsigned(load(columns + 32))};
      unroll<kOutputs>([&](auto o) {
        const Wide codes = widen_unsigned(_mm256_add_epi8(broadcast(errors + o * 4), zero));
        const Wide e{_mm256_sub_epi16(codes.even, wide_zero),
                     _mm256_sub_epi16(codes.odd, wide_zero)};
        unroll<2>([&](auto half) {
          add_to(out + o * kPanel + half * 8,
                 _mm256_add_epi32(_mm256_madd_epi16(c[half].even, e.even),
                                  _mm256_madd_epi16(c[half].odd, e.odd)));
        });
      });
    }
  });
}

}  // namespace
}  // namespace bitcycle::integer::avx2
