#pragma once

// Backward-weights with VNNI. One broadcast of an output's errors is multiplied with the columns of
// up to three rows of taps, which are the same columns some rows apart.

#include "kernels/integer/avx512_dot.h"

namespace bitcycle::integer::avx512 {
namespace {

// Outputs [first, first + kOutputs) of a job with kRows rows of taps.
template <int kRows, int kOutputs>
[[gnu::noinline]] void outer_tile(const OuterJob& job, int first) {
  __m512i sums[kRows][kOutputs];
  const auto tile = [&](auto r, auto o) {
    return job.sums + r * job.row_sums + (first + o) * kPanel;
  };
  unroll<kRows>(
      [&](auto r) { unroll<kOutputs>([&](auto o) { sums[r][o] = load64(tile(r, o)); }); });
  for (int n = 0; n < job.images; ++n) {
    const std::uint8_t* columns[kRows];
    unroll<kRows>(
        [&](auto r) { columns[r] = job.columns + n * job.column_stride + job.row_columns[r]; });
    const std::int8_t* errors = job.errors + n * job.error_stride + first * 4;
    for (std::ptrdiff_t at = 0; at < std::ptrdiff_t{job.steps} * kStepBytes; at += kStepBytes) {
      __m512i c[kRows];
      unroll<kRows>([&](auto r) { c[r] = load64(columns[r] + at); });
      unroll<kOutputs>([&](auto o) {
        const __m512i error = broadcast64(errors + at + o * 4);
        unroll<kRows>([&](auto r) { sums[r][o] = _mm512_dpbusd_epi32(sums[r][o], c[r], error); });
      });
    }
  }
  unroll<kRows>([&](auto r) {
    unroll<kOutputs>([&](auto o) { _mm512_storeu_si512(tile(r, o), sums[r][o]); });
  });
}

void outer(const OuterJob& job) {
  if (job.rows == 1) return outer_tile<1, kPanel>(job, 0);
  for (int first = 0; first < kPanel; first += 8) {
    job.rows == 2 ? outer_tile<2, 8>(job, first) : outer_tile<3, 8>(job, first);
  }
}

}  // namespace
}  // namespace bitcycle::integer::avx512
