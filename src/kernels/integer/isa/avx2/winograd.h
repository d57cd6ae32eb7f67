#pragma once

// AVX2: the products of Note [Winograd].

#include "kernels/integer/isa/avx2/winograd_transform.h"

#include <algorithm>

namespace bitcycle::integer::avx2 {
namespace {

constexpr int kTilesAtOnce = 16;  // whose 16-bit sums take half of a first-level cache
constexpr int kPointLanes = kTilesAtOnce * kLanes;
enum class Part { first, further };  // of what is added up

// One point of some tiles: the products of a slice of channels, whose weights fill 8 registers.
template <Part kSlice>
[[gnu::noinline]] void multiply_slice(const std::uint8_t* points, int channels, int tiles,
                                      const std::int8_t* panel, std::int16_t* sums) {
  constexpr int kSteps = kSliceChannels / 4;
  __m256i weights[kSteps][2];
  unroll<kSteps * 2>([&](auto i) { weights[i / 2][i % 2] = load(panel + i * 32); });
  for (int t = 0; t < tiles; ++t, points += channels, sums += kLanes) {
    __m256i low, high;
    unroll<kSteps>([&](auto step) {
      const __m256i bytes = broadcast(points + step * 4);
      const __m256i low_products = _mm256_maddubs_epi16(bytes, weights[step][0]);
      const __m256i high_products = _mm256_maddubs_epi16(bytes, weights[step][1]);
      low = step == 0 ? low_products : _mm256_add_epi16(low, low_products);
      high = step == 0 ? high_products : _mm256_add_epi16(high, high_products);
    });
    if constexpr (kSlice == Part::further) {
      low = _mm256_add_epi16(low, load(sums));
      high = _mm256_add_epi16(high, load(sums + 16));
    }
    save(sums, low);
    save(sums + 16, high);
  }
}

// The channels [from, to).
void multiply_point(const TilesJob& job, int point, int first, int tiles, int from, int to,
                    std::int16_t* sums) {
  const std::uint8_t* points = job.points + point * job.point_bytes + first * job.channels;
  const std::int8_t* panel = job.panel + point * job.channels * kPanel;
  multiply_slice<Part::first>(points + from, job.channels, tiles, panel + from * kPanel, sums);
  for (int c = from + kSliceChannels; c < to; c += kSliceChannels) {
    multiply_slice<Part::further>(points + c, job.channels, tiles, panel + c * kPanel, sums);
  }
}

// A^T times a column.
struct Two {
  __m256i first, second;
};
[[gnu::always_inline]] inline Two fold(__m256i a, __m256i b, __m256i c, __m256i d) {
  return {_mm256_add_epi16(_mm256_add_epi16(a, b), c), _mm256_sub_epi16(_mm256_sub_epi16(b, c), d)};
}

// The outputs of a tile, 8 channels of them; rows lie `row` apart.
template <Part kGroup>
[[gnu::always_inline]] inline void finish_tile(const std::int16_t* sums, const std::int16_t* start,
                                               std::int32_t* to, std::ptrdiff_t row) {
  const auto at = [&](int point) { return load(sums + point * kPointLanes); };
  const auto finish = [&](__m256i lanes, int output, std::int32_t* pixel) {
    lanes = _mm256_add_epi16(lanes, load(start + output * kLanes));
    const __m256i sum = _mm256_srai_epi32(widened(lanes), 2);
    save(pixel, kGroup == Part::first ? sum : _mm256_add_epi32(sum, load(pixel)));
  };
  Two x[4];
  unroll<4>([&](auto i) { x[i] = fold(at(i), at(4 + i), at(8 + i), at(12 + i)); });
  const Two top = fold(x[0].first, x[1].first, x[2].first, x[3].first);
  finish(top.first, 0, to);
  finish(top.second, 1, to + kPanel);
  const Two bottom = fold(x[0].second, x[1].second, x[2].second, x[3].second);
  finish(bottom.first, 2, to + row);
  finish(bottom.second, 3, to + row + kPanel);
}

template <Part kGroup>
[[gnu::noinline]] void finish_tiles(const TilesJob& job, int first, int tiles,
                                    const std::int16_t* start, const std::int16_t* sums) {
  const std::ptrdiff_t row = 2 * job.columns * kPanel;
  for (int i = first; i < first + tiles; ++i, sums += kLanes) {
    std::int32_t* to = job.sums + i / job.columns * 2 * row + i % job.columns * 2 * kPanel;
    finish_tile<kGroup>(sums, start, to, row);
    finish_tile<kGroup>(sums + kPanel, start + kPanel, to + kPanel / 2, row);
  }
}

void winograd_multiply(const TilesJob& job) {
  alignas(64) std::int16_t sums[kPoints * kPointLanes];
  for (int first = 0; first < job.tiles; first += kTilesAtOnce) {
    const int tiles = std::min(kTilesAtOnce, job.tiles - first);
    int from = 0;
    const std::int16_t* start = job.start;
    for (const int to : job.groups) {
      for (int point = 0; point < kPoints; ++point) {
        multiply_point(job, point, first, tiles, from, to, sums + point * kPointLanes);
      }
      const auto finish = from == 0 ? finish_tiles<Part::first> : finish_tiles<Part::further>;
      finish(job, first, tiles, start, sums);
      from = to;
      start += job.group_start;
    }
  }
}

}  // namespace
}  // namespace bitcycle::integer::avx2
