#pragma once

// The products of Note [Winograd] with VNNI. A column of four points is multiplied for four tiles
// at once, in 16 accumulators, and folded to two; what columns add up to stays in registers but for
// the second column, which both columns of outputs need.

#include "kernels/integer/isa/avx2/winograd_transform.h"
#include "kernels/integer/isa/avx512/dot.h"
#include "kernels/integer/isa/avx512/registers.h"

namespace bitcycle::integer::avx512 {
namespace {

constexpr int kTilesAtOnce = 4;

// A^T times a column of points: the upper and the lower outputs.
struct Two {
  __m512i first, second;

  Two operator+(const Two& b) const {
    return {_mm512_add_epi32(first, b.first), _mm512_add_epi32(second, b.second)};
  }
  Two operator-(const Two& b) const {
    return {_mm512_sub_epi32(first, b.first), _mm512_sub_epi32(second, b.second)};
  }
};
[[gnu::always_inline]] inline Two fold(__m512i a, __m512i b, __m512i c, __m512i d) {
  return {_mm512_add_epi32(_mm512_add_epi32(a, b), c), _mm512_sub_epi32(_mm512_sub_epi32(b, c), d)};
}

// The points of one column, 0 to 3, of some tiles; result(tile, folded) takes them.
template <int kColumn, typename Result>
[[gnu::always_inline]] inline void multiply_column(const TilesJob& job,
                                                   const std::uint8_t* const* tiles,
                                                   const Result& result) {
  __m512i sums[4][kTilesAtOnce];
  unroll<4 * kTilesAtOnce>(
      [&](auto i) { sums[i / kTilesAtOnce][i % kTilesAtOnce] = _mm512_setzero_si512(); });
  const std::ptrdiff_t row = 4 * job.point_bytes;
  const std::ptrdiff_t row_weights = std::ptrdiff_t{4} * job.channels * kPanel;
  const std::int8_t* w = job.panel + std::ptrdiff_t{kColumn} * job.channels * kPanel;
  const std::uint8_t* points[kTilesAtOnce];
  unroll<kTilesAtOnce>([&](auto t) { points[t] = tiles[t] + kColumn * job.point_bytes; });
  for (std::ptrdiff_t c = 0; c < job.channels; c += kSliceChannels, w += 4 * kStepBytes) {
    unroll<kSliceChannels / 4>([&](auto step) __attribute__((always_inline)) {
      unroll<4>([&](auto r) __attribute__((always_inline)) {
        const __m512i weights = load64(w + r * row_weights + step * kStepBytes);
        unroll<kTilesAtOnce>([&](auto t) __attribute__((always_inline)) {
          const __m512i codes = broadcast64(points[t] + r * row + c + step * 4);
          sums[r][t] = _mm512_dpbusd_epi32(sums[r][t], codes, weights);
        });
      });
    });
  }
  unroll<kTilesAtOnce>(
      [&](auto t) { result(t, fold(sums[0][t], sums[1][t], sums[2][t], sums[3][t])); });
}

// A column of the outputs of a tile; rows lie `row` apart.
template <int kOutput>
[[gnu::always_inline]] inline void store_outputs(const Two& sums, const std::int32_t* start,
                                                 std::int32_t* to, std::ptrdiff_t row) {
  const auto finished = [&](__m512i sum, int output) {
    return quarter(_mm512_add_epi32(sum, load64(start + output * kPanel)));
  };
  _mm512_storeu_si512(to + kOutput * kPanel, finished(sums.first, kOutput));
  _mm512_storeu_si512(to + row + kOutput * kPanel, finished(sums.second, 2 + kOutput));
}

// Times A: the left outputs are the sum of the first three columns, the right ones the second less
// the third and the fourth. Tiles that fill up the last few are the last one again, and stored
// where it is.
void winograd_multiply(const TilesJob& job) {
  const std::ptrdiff_t row = std::ptrdiff_t{2} * job.columns * kPanel;
  for (int first = 0; first < job.tiles; first += kTilesAtOnce) {
    const std::uint8_t* tiles[kTilesAtOnce];
    std::int32_t* outputs[kTilesAtOnce];
    for (int t = 0; t < kTilesAtOnce; ++t) {
      const int tile = std::min(first + t, job.tiles - 1);
      tiles[t] = job.points + std::ptrdiff_t{tile} * job.channels;
      outputs[t] = job.sums + tile / job.columns * 2 * row + tile % job.columns * 2 * kPanel;
    }
    Two left[kTilesAtOnce], right[kTilesAtOnce];
    multiply_column<0>(job, tiles, [&](auto t, const Two& x) { left[t] = x; });
    multiply_column<1>(job, tiles, [&](auto t, const Two& x) {
      left[t] = left[t] + x;
      right[t] = x;
    });
    multiply_column<2>(job, tiles, [&](auto t, const Two& x) {
      store_outputs<0>(left[t] + x, job.wide_start, outputs[t], row);
      right[t] = right[t] - x;
    });
    multiply_column<3>(job, tiles, [&](auto t, const Two& x) {
      store_outputs<1>(right[t] - x, job.wide_start, outputs[t], row);
    });
  }
}

}  // namespace
}  // namespace bitcycle::integer::avx512
