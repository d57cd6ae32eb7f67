#pragma once

// AVX2: the stages of Note [Winograd].

#include "kernels/integer/isa/avx2/registers.h"
#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/unroll.h"

#include <algorithm>

namespace bitcycle::integer::avx2 {
namespace {

// 32 channels of a tile in a register, or 16 of two neighbours.
struct OneTile {
  static constexpr int kTiles = 1;
  static constexpr int kChannels = 32;
  static __m256i read(const std::uint8_t* pixel) { return load(pixel); }
};
struct TwoTiles {
  static constexpr int kTiles = 2;
  static constexpr int kChannels = 16;
  static __m256i read(const std::uint8_t* pixel) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load16(pixel)),
                                   load16(pixel + 2 * kChannels), 1);
  }
};

// A row of a tile's pixels.
struct FourPixels {
  __m256i x[4];
};
[[gnu::always_inline]] inline FourPixels operator+(const FourPixels& a, const FourPixels& b) {
  FourPixels sum;
  unroll<4>([&](auto i) { sum.x[i] = _mm256_add_epi8(a.x[i], b.x[i]); });
  return sum;
}
[[gnu::always_inline]] inline FourPixels operator-(const FourPixels& a, const FourPixels& b) {
  FourPixels difference;
  unroll<4>([&](auto i) { difference.x[i] = _mm256_sub_epi8(a.x[i], b.x[i]); });
  return difference;
}

// The transform along x. `raise_sum` belongs to the point that may do without.
[[gnu::always_inline]] inline void save_points(const FourPixels& row, __m256i raise,
                                               __m256i raise_sum, std::uint8_t* to,
                                               std::ptrdiff_t point_bytes) {
  const __m256i second = _mm256_add_epi8(row.x[1], raise);
  save(to, _mm256_sub_epi8(_mm256_add_epi8(row.x[0], raise), row.x[2]));
  save(to + point_bytes, _mm256_add_epi8(_mm256_add_epi8(row.x[1], raise_sum), row.x[2]));
  save(to + 2 * point_bytes, _mm256_sub_epi8(_mm256_add_epi8(row.x[2], raise), row.x[1]));
  save(to + 3 * point_bytes, _mm256_sub_epi8(second, row.x[3]));
}

// The two middle rows stay in registers, all four would not.
template <typename Tiles>
[[gnu::always_inline]] inline void transform_tile(const TransformJob& job,
                                                  const std::uint8_t* source, std::uint8_t* to) {
  const __m256i raise = _mm256_set1_epi8(static_cast<char>(job.raise));
  const auto row = [&](int y) {
    FourPixels pixels;
    const std::uint8_t* from = source + y * job.row_bytes;
    unroll<4>([&](auto x) { pixels.x[x] = Tiles::read(from + x * job.channels); });
    return pixels;
  };
  const auto save_row = [&](int y, const FourPixels& values) {
    save_points(values, raise, y == 1 ? _mm256_setzero_si256() : raise,
                to + 4 * y * job.point_bytes, job.point_bytes);
  };
  const FourPixels second = row(1);
  const FourPixels third = row(2);
  save_row(1, second + third);
  save_row(2, third - second);
  save_row(0, row(0) - third);
  save_row(3, second - row(3));
}

template <typename Tiles>
void transform_tiles(const TransformJob& job) {
  for (int i = 0; i < job.tiles; i += Tiles::kTiles) {
    const int tile = std::min(i, job.tiles - Tiles::kTiles);
    for (int c = 0; c < job.channels; c += Tiles::kChannels) {
      transform_tile<Tiles>(job, job.source + 2 * tile * job.channels + c,
                            job.points + tile * job.channels + c);
    }
  }
}

void winograd_transform(const TransformJob& job) {
  const auto transform =
      job.channels == TwoTiles::kChannels ? transform_tiles<TwoTiles> : transform_tiles<OneTile>;
  transform(job);
}

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
