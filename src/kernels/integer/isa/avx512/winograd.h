#pragma once

// The products of Note [Winograd] with VNNI. A column of four points is multiplied for four tiles
// at once, in 16 accumulators, and folded to two before it leaves the registers.

#include "kernels/integer/isa/avx2/winograd_transform.h"
#include "kernels/integer/isa/avx512/dot.h"
#include "kernels/integer/isa/avx512/registers.h"

namespace bitcycle::integer::avx512 {
namespace {

constexpr int kTilesAtOnce = 4;

// A^T times a column.
struct Two {
  __m512i first, second;
};
[[gnu::always_inline]] inline Two fold(__m512i a, __m512i b, __m512i c, __m512i d) {
  return {_mm512_add_epi32(_mm512_add_epi32(a, b), c), _mm512_sub_epi32(_mm512_sub_epi32(b, c), d)};
}

// The points of one column, 0 to 3, of some tiles.
[[gnu::noinline]] void multiply_column(const TilesJob& job, int column,
                                       const std::uint8_t* const* tiles, Two* folded) {
  __m512i sums[4][kTilesAtOnce];
  unroll<4 * kTilesAtOnce>(
      [&](auto i) { sums[i / kTilesAtOnce][i % kTilesAtOnce] = _mm512_setzero_si512(); });
  const std::ptrdiff_t row = 4 * job.point_bytes;
  const std::ptrdiff_t row_weights = std::ptrdiff_t{4} * job.channels * kPanel;
  const std::int8_t* w = job.panel + std::ptrdiff_t{column} * job.channels * kPanel;
  const std::uint8_t* points[kTilesAtOnce];
  unroll<kTilesAtOnce>([&](auto t) { points[t] = tiles[t] + column * job.point_bytes; });
  for (std::ptrdiff_t c = 0; c < job.channels; c += 4, w += kStepBytes) {
    unroll<4>([&](auto r) {
      const __m512i weights = load64(w + r * row_weights);
      unroll<kTilesAtOnce>([&](auto t) {
        sums[r][t] = _mm512_dpbusd_epi32(sums[r][t], broadcast64(points[t] + r * row + c), weights);
      });
    });
  }
  unroll<kTilesAtOnce>(
      [&](auto t) { folded[t] = fold(sums[0][t], sums[1][t], sums[2][t], sums[3][t]); });
}

// The outputs of a tile; rows lie `row` apart.
[[gnu::always_inline]] inline void finish_tile(const Two (&x)[4], const std::int32_t* start,
                                               std::int32_t* to, std::ptrdiff_t row) {
  const auto finish = [&](__m512i sum, int output, std::int32_t* pixel) {
    sum = _mm512_add_epi32(sum, load64(start + output * kPanel));
    _mm512_storeu_si512(pixel, quarter(sum));
  };
  const Two top = fold(x[0].first, x[1].first, x[2].first, x[3].first);
  finish(top.first, 0, to);
  finish(top.second, 1, to + kPanel);
  const Two bottom = fold(x[0].second, x[1].second, x[2].second, x[3].second);
  finish(bottom.first, 2, to + row);
  finish(bottom.second, 3, to + row + kPanel);
}

// Tiles that fill up the last few are the last one again.
void winograd_multiply(const TilesJob& job) {
  const std::ptrdiff_t row = std::ptrdiff_t{2} * job.columns * kPanel;
  for (int first = 0; first < job.tiles; first += kTilesAtOnce) {
    const std::uint8_t* tiles[kTilesAtOnce];
    for (int t = 0; t < kTilesAtOnce; ++t) {
      tiles[t] = job.points + std::ptrdiff_t{std::min(first + t, job.tiles - 1)} * job.channels;
    }
    Two folded[4][kTilesAtOnce];
    for (int column = 0; column < 4; ++column) {
      multiply_column(job, column, tiles, folded[column]);
    }
    for (int t = 0; t < std::min(kTilesAtOnce, job.tiles - first); ++t) {
      const int tile = first + t;
      const Two columns[4] = {folded[0][t], folded[1][t], folded[2][t], folded[3][t]};
      finish_tile(columns, job.wide_start,
                  job.sums + tile / job.columns * 2 * row + tile % job.columns * 2 * kPanel, row);
    }
  }
}

}  // namespace
}  // namespace bitcycle::integer::avx512
