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

// 32-bit sums in registers; `chain` covers kChain steps for one output, `single` one step.
template <int kChain, typename Chain, typename Single>
[[gnu::always_inline]] inline void outer_part(const OuterJob& job, const std::int8_t* first_error,
                                              std::int32_t* out, Chain chain, Single single) {
  __m256i sums[kOutputs][2];
  unroll<kOutputs * 2>([&](auto i) { sums[i / 2][i % 2] = _mm256_setzero_si256(); });
  for (int n = 0; n < job.images; ++n) {
    const std::uint8_t* columns = job.columns + n * job.column_stride;
    const std::int8_t* errors = first_error + n * job.error_stride;
    int left = job.steps;
    for (; left >= kChain; left -= kChain) {
      unroll<kOutputs>([&](auto o) { chain(sums[o], columns, errors + o * 4); });
      columns += kStepBytes * kChain;
      errors += kStepBytes * kChain;
    }
    if constexpr (kChain > 1) {
      for (; left > 0; --left, columns += kStepBytes, errors += kStepBytes) {
        unroll<kOutputs>([&](auto o) { single(sums[o], columns, errors + o * 4); });
      }
    }
  }
  unroll<kOutputs * 2>([&](auto i) { add_to(out + i * 8, sums[i / 2][i % 2]); });
}

template <int kChain>
struct OuterChained {
  void operator()(__m256i (&sums)[2], const std::uint8_t* columns,
                  const std::int8_t* errors) const {
    __m256i lanes[2];
    unroll<kChain>([&](auto k) {
      const __m256i e = broadcast(errors + k * kStepBytes);
      unroll<2>([&](auto half) {
        const __m256i product = _mm256_maddubs_epi16(load(columns + k * kStepBytes + half * 32), e);
        lanes[half] = k == 0 ? product : _mm256_add_epi16(lanes[half], product);
      });
    });
    unroll<2>([&](auto half) { sums[half] = _mm256_add_epi32(sums[half], widened(lanes[half])); });
  }
};

template <int kChain>
[[gnu::noinline]] void outer_short(const OuterJob& job) {
  each_part(job, [&](auto* errors, auto* sums) {
    outer_part<kChain>(job, errors, sums, OuterChained<kChain>{}, OuterChained<1>{});
  });
}

[[gnu::noinline]] void outer_wide(const OuterJob& job) {
  const auto one = [](__m256i(&sums)[2], const std::uint8_t* columns, const std::int8_t* errors) {
    const Wide e = widen_signed(broadcast(errors));
    unroll<2>([&](auto half) {
      const Wide c = widen_unsigned(load(columns + half * 32));
      sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(c.even, e.even));
      sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(c.odd, e.odd));
    });
  };
  each_part(job, [&](auto* errors, auto* sums) { outer_part<1>(job, errors, sums, one, one); });
}

}  // namespace
}  // namespace bitcycle::integer::avx2
