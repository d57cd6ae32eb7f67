#pragma once

// The tiles of fully connected layers with vpmaddwd: 6 rows times a panel, which takes two
// registers, are 12 accumulators; two registers of the panel, a broadcast and a product make 16.

#include "kernels/integer/isa/avx2/dot.h"
#include "kernels/integer/isa/linear_loops.h"

namespace bitcycle::integer::avx2 {
namespace {

constexpr int kSparseErrors = 12;
constexpr int kTileRows = 6;

enum class Walk { along, across };  // a row's steps, or those of a panel whose lanes are the rows

// sum + term, in the sum's register; see accumulate(). By value: gcc keeps an array in memory once
// one of its elements is an operand.
inline __m256i added32(__m256i sum, __m256i term) {
  asm("vpaddd %1, %0, %0" : "+x"(sum) : "x"(term));
  return sum;
}

template <int kRows, Walk kWalk>
[[gnu::noinline]] void tile_of(const TileJob& job) {
  __m256i sums[kRows][2];
  unroll<kRows * 2>([&](auto i) {
    std::int32_t* from = job.sums + i / 2 * job.sum_stride + i % 2 * 8;
    sums[i / 2][i % 2] = job.add ? load(from) : _mm256_setzero_si256();
  });
  constexpr int kThirds = (kRows + 2) / 3;
  const std::ptrdiff_t stride = job.row_stride;
  const auto* first = static_cast<const std::uint8_t*>(job.rows);
  const std::uint8_t* thirds[kThirds];
  unroll<kThirds>([&](auto i) { thirds[i] = first + 3 * i * stride; });
  const auto* panel = static_cast<const std::uint8_t*>(job.panels);
  const auto step = [&](auto at) __attribute__((always_inline)) {
    const __m256i low = load(panel + at * kStepBytes);
    const __m256i high = load(panel + at * kStepBytes + 32);
    unroll<kRows>([&](auto r) {
      const std::uint8_t* from = kWalk == Walk::across
                                     ? first + at * kStepBytes + r * kRowStepBytes
                                     : thirds[r / 3] + r % 3 * stride + at * kRowStepBytes;
      const __m256i two = broadcast(from);
      sums[r][0] = added32(sums[r][0], _mm256_madd_epi16(two, low));
      sums[r][1] = added32(sums[r][1], _mm256_madd_epi16(two, high));
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
  unroll<kRows * 2>(
      [&](auto i) { save(job.sums + i / 2 * job.sum_stride + i % 2 * 8, sums[i / 2][i % 2]); });
}

template <Walk kWalk, int... kRows>
void tile_by_rows(const TileJob& job, std::integer_sequence<int, kRows...>) {
  static constexpr TileKernel kKernels[] = {tile_of<kRows + 1, kWalk>...};
  kKernels[job.row_count - 1](job);
}
template <Walk kWalk>
void tile(const TileJob& job) {
  tile_by_rows<kWalk>(job, std::make_integer_sequence<int, kTileRows>{});
}

constexpr LinearKernels kLinear =
    with_loops(Operands::words, kTileRows, 1, kSparseErrors, tile<Walk::along>, tile<Walk::across>);

}  // namespace
}  // namespace bitcycle::integer::avx2
