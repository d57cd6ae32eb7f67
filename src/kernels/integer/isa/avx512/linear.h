#pragma once

// The tiles of fully connected layers with VNNI: 12 rows times two panels are 24 accumulators, fed
// by 14 loads per step. Rows are reached from every third one, which leaves enough registers for
// their pointers.

#include "kernels/integer/isa/avx512/dot.h"
#include "kernels/integer/isa/linear_loops.h"

namespace bitcycle::integer::avx512 {
namespace {

constexpr int kSparseErrors = 32;
constexpr int kTileRows = 12;
constexpr int kTilePanels = 2;

enum class Walk { along, across };  // a row's steps, or those of a panel whose lanes are the rows

template <int kRows, int kPanels, Walk kWalk>
[[gnu::noinline]] void tile_of(const TileJob& job) {
  __m512i sums[kRows][kPanels];
  unroll<kRows * kPanels>([&](auto i) {
    std::int32_t* from = job.sums + i / kPanels * job.sum_stride + i % kPanels * kPanel;
    sums[i / kPanels][i % kPanels] = job.add ? load64(from) : _mm512_setzero_si512();
  });
  constexpr int kThirds = (kRows + 2) / 3;
  const std::ptrdiff_t stride = job.row_stride;
  const auto* first = static_cast<const std::uint8_t*>(job.rows);
  const std::uint8_t* thirds[kThirds];
  unroll<kThirds>([&](auto i) { thirds[i] = first + 3 * i * stride; });
  const auto* panel = static_cast<const std::uint8_t*>(job.panels);
  const std::ptrdiff_t next = job.panel_stride;
  const auto step = [&](auto at) __attribute__((always_inline)) {
    __m512i lanes[kPanels];
    unroll<kPanels>([&](auto i) { lanes[i] = load64(panel + i * next + at * kStepBytes); });
    unroll<kRows>([&](auto r) {
      const std::uint8_t* from = kWalk == Walk::across
                                     ? first + at * kStepBytes + r * kRowStepBytes
                                     : thirds[r / 3] + r % 3 * stride + at * kRowStepBytes;
      const __m512i four = broadcast64(from);
      unroll<kPanels>([&](auto i) {
        __m512i& sum = sums[r][i];
        sum = kWalk == Walk::across ? _mm512_dpbusd_epi32(sum, lanes[i], four)
                                    : _mm512_dpbusd_epi32(sum, four, lanes[i]);
      });
    });
  };
  const auto advance = [&](int steps) __attribute__((always_inline)) {
    panel += steps * kStepBytes;
    if constexpr (kWalk == Walk::across) {
      first += steps * kStepBytes;
    } else {
      unroll<kThirds>([&](auto i) { thirds[i] += steps * kRowStepBytes; });
    }
  };
  int left = job.steps;
  for (; left >= 2; left -= 2) {
    unroll<2>([&](auto s) __attribute__((always_inline)) { step(s); });
    advance(2);
  }
  if (left > 0) step(std::integral_constant<int, 0>{});
  unroll<kRows * kPanels>([&](auto i) {
    std::int32_t* to = job.sums + i / kPanels * job.sum_stride + i % kPanels * kPanel;
    _mm512_storeu_si512(to, sums[i / kPanels][i % kPanels]);
  });
}

template <Walk kWalk, int... kRows>
void tile_by_rows(const TileJob& job, std::integer_sequence<int, kRows...>) {
  static constexpr TileKernel kKernels[2][sizeof...(kRows)] = {{tile_of<kRows + 1, 1, kWalk>...},
                                                               {tile_of<kRows + 1, 2, kWalk>...}};
  kKernels[job.panel_count - 1][job.row_count - 1](job);
}
template <Walk kWalk>
void tile(const TileJob& job) {
  tile_by_rows<kWalk>(job, std::make_integer_sequence<int, kTileRows>{});
}

constexpr LinearKernels kLinear = with_loops(Operands::bytes, kTileRows, kTilePanels, kSparseErrors,
                                             tile<Walk::along>, tile<Walk::across>);

}  // namespace
}  // namespace bitcycle::integer::avx512
