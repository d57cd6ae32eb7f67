#pragma once

// The first stage of Note [Winograd], codes to points, in 256-bit registers on all sets: it is
// bound by loads and stores.

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

}  // namespace
}  // namespace bitcycle::integer::avx2
