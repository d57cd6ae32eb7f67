#pragma once

// Backward-weights with VNNI. With two or three rows of taps, one broadcast of an output's errors
// is multiplied with the columns of each, which are the same columns some rows apart. With a single
// row there would be a load for every multiplication, more than the load ports keep up with, so it
// goes another way: see paired_tile.

#include "kernels/integer/isa/avx512/dot.h"

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

// Two outputs at a time are repeated in all 64-bit lanes, and multiplied with the columns, two to a
// lane, as they are and exchanged. That makes up the 16 x 16 tile from 9 loads a step:
//     sums[exchanged][pair] lane l, place i = output 2 pair + i, column 2 l + (i + exchanged) % 2
constexpr int kOutputPairs = kPanel / 2;

inline __m512i broadcast_pair(const std::int8_t* p) {
  std::int64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return _mm512_set1_epi64(bytes);
}
inline void add_to(std::int32_t* sums, __m512i v) {
  _mm512_storeu_si512(sums, _mm512_add_epi32(load64(sums), v));
}
// Adds the sums of two outputs to theirs.
inline void add_pair(__m512i straight, __m512i exchanged, std::int32_t* sums) {
  const __m512i low = _mm512_set1_epi64(0xffffffff);
  add_to(sums, _mm512_or_si512(_mm512_and_si512(low, straight), _mm512_slli_epi64(exchanged, 32)));
  add_to(sums + kPanel,
         _mm512_or_si512(_mm512_andnot_si512(low, straight), _mm512_srli_epi64(exchanged, 32)));
}

[[gnu::noinline]] void paired_tile(const OuterJob& job) {
  __m512i sums[2][kOutputPairs];
  unroll<kOutputPairs>([&](auto i) { sums[0][i] = sums[1][i] = _mm512_setzero_si512(); });
  for (int n = 0; n < job.images; ++n) {
    const std::uint8_t* columns = job.columns + n * job.column_stride + job.row_columns[0];
    const std::int8_t* errors = job.errors + n * job.error_stride;
    for (int s = 0; s < job.steps; ++s, columns += kStepBytes, errors += kStepBytes) {
      const __m512i straight = load64(columns);
      const __m512i exchanged = _mm512_rol_epi64(straight, 32);
      unroll<kOutputPairs>([&](auto pair) {
        const __m512i error = broadcast_pair(errors + pair * 2 * kQuad);
        sums[0][pair] = _mm512_dpbusd_epi32(sums[0][pair], straight, error);
        sums[1][pair] = _mm512_dpbusd_epi32(sums[1][pair], exchanged, error);
      });
    }
  }
  unroll<kOutputPairs>(
      [&](auto pair) { add_pair(sums[0][pair], sums[1][pair], job.sums + pair * 2 * kPanel); });
}

void outer(const OuterJob& job) {
  if (job.rows == 1) return paired_tile(job);
  for (int first = 0; first < kPanel; first += 8) {
    job.rows == 2 ? outer_tile<2, 8>(job, first) : outer_tile<3, 8>(job, first);
  }
}

}  // namespace
}  // namespace bitcycle::integer::avx512
