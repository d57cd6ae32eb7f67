#pragma once

// What the depthwise inner loops are told.

#include <cstddef>
#include <cstdint>
#include <span>

namespace bitcycle::integer {

inline constexpr int kQuad = 4;  // bytes of one channel that vpdpbusd adds up

// Depthwise: sums[p][c] = sum_t source * weight, boxes[p][c] = sum_t source - box_zero, for 16
// channels of `rows` rows of `columns` pixels. The weights are there in three forms: for each
// column of taps [16][kQuad], rows being filled up with zeros, where there are no more rows than
// that; where all sums fit 16 bits, [tap][16]; and [tap pair][16][2].
struct DepthwiseJob {
  const std::uint8_t* source;
  const std::int32_t* offsets;  // of every pixel and of kMaxPixels more, as results have room for
  int rows;
  int columns;
  int source_step;  // pixels of the source from one column to the next
  int tap_rows;
  int tap_columns;
  std::ptrdiff_t row_bytes;  // of the source
  std::ptrdiff_t pixel_bytes;
  std::span<const std::int32_t> taps;  // byte offsets from a pixel's first byte
  const std::int8_t* quads;
  const std::int16_t* singles;  // null where sums need more than 16 bits
  const std::int16_t* pairs;
  int box_zero;
  std::int32_t* sums;
  float* boxes;

  int pixels() const { return rows * columns; }
};

// sums[ky][kx][16] += (errors - error_zero) * (source - source_zero) over `rows` rows of `columns`
// outputs.
struct DepthwiseOuterJob {
  const std::uint8_t* source;
  const std::uint8_t* errors;
  int rows;
  int columns;
  int kernel;
  int stride;
  std::ptrdiff_t pixel_bytes;  // the same in both grids
  std::ptrdiff_t source_row_bytes;
  std::ptrdiff_t error_row_bytes;
  int source_zero;
  int error_zero;
  bool byte_errors;  // whether all of errors - error_zero fit 8 bits; found out for VNNI only
  std::int32_t* sums;

  const std::uint8_t* source_row(int y, int ky) const {
    return source + (std::ptrdiff_t{y} * stride + ky) * source_row_bytes;
  }
  const std::uint8_t* error_row(int y) const { return errors + y * error_row_bytes; }
};

}  // namespace bitcycle::integer
