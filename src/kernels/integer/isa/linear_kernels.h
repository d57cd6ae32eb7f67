#pragma once

// The inner loops of fully connected layers. One tile is a few rows times one or two panels; the
// drivers (src/kernels/integer/linear) choose which rows and panels, and what the sums are worth.
//
// Note [Operands]: a step is 64 bytes of a panel and 4 bytes of a row, 16 lanes of
//   bytes: 4 products each, unsigned times signed; exact with VNNI's vpdpbusd, which adds in 32
//          bits. Codes are unsigned as they are, so zero points are corrected for afterwards.
//   words: 2 products each of 16-bit numbers, exact with vpmaddwd. Zero points are taken off
//   before,
//          and nothing is left to correct. AVX2 uses it at all widths: its products of bytes add
//          two into a saturating 16-bit lane, and where 8-bit operands let those be used at all, as
//          many instructions go into widening the lanes as are saved.

#include <cstddef>
#include <cstdint>

namespace bitcycle::integer {

enum class Operands { bytes, words };

inline constexpr int kMaxTileRows = 12;
inline constexpr int kMaxTileLanes = 32;
inline constexpr int kRowStepBytes = 4;

// sums[r][lane] (+)= sum over steps of row(r) . panel(lane)
struct TileJob {
  const void* rows;           // of the first one
  std::ptrdiff_t row_stride;  // bytes from one to the next; 4 in outer tiles
  int row_count;
  const void* panels;
  std::ptrdiff_t panel_stride;  // bytes
  int panel_count;
  int steps;
  bool add;  // to what `sums` holds
  std::int32_t* sums;
  std::ptrdiff_t sum_stride;  // elements from one row to the next
};
using TileKernel = void (*)(const TileJob&);

// out = fma(offset, box, float(sum + lane_int)) * scale, and + shift where it is given. Per lane
// but for the box, which is per row.
struct FinishJob {
  const std::int32_t* sums;
  std::ptrdiff_t sum_stride;
  int rows;
  int lanes;
  const float* boxes;
  const std::int32_t* lane_int;
  const float* offset;
  const float* scale;
  const float* shift;  // may be null
  float* out;
  std::ptrdiff_t out_stride;
};

// The sums of a weight gradient: sum + row_int + lane_int, times a factor per row.
struct GradientTileJob {
  const std::int32_t* sums;
  std::ptrdiff_t sum_stride;
  int rows;
  int lanes;
  const std::int32_t* row_int;
  const std::int32_t* lane_int;
  const double* factors;
  const float* float_factors;
  float* out;
  std::ptrdiff_t out_stride;
};

// One of few rows of codes that are multiplied, and its factor (Note [Sparse errors] in
// linear/sparse_errors.h).
struct SparseTerm {
  std::int32_t row;
  std::int32_t factor;
};

struct LinearKernels {
  Operands operands;
  int tile_rows;
  int tile_panels;
  // One error in so many, or fewer, is cheaper to multiply on its own than all of them in tiles.
  int sparse_errors;
  // Rows lie one after the other, steps of a row too; bytes: rows are unsigned, panels signed.
  TileKernel tile;
  // Rows are lanes of a panel: 4 bytes from one to the next, 64 from step to step. Bytes: rows are
  // signed, panels unsigned.
  TileKernel outer_tile;

  void (*finish)(const FinishJob&);
  void (*gradient)(const GradientTileJob&);      // out = float(sum * factor), in double precision
  void (*add_gradient)(const GradientTileJob&);  // out = fma(float(sum), factor, out)

  // sums[i] += SUM factor * codes[row * width + i]
  void (*add_signed_rows)(const SparseTerm* terms, std::size_t count, const std::int8_t* codes,
                          int width, std::int32_t* sums);
  void (*add_unsigned_rows)(const SparseTerm* terms, std::size_t count, const std::uint8_t* codes,
                            int width, std::int32_t* sums);

  // Words: codes less `zero`, a row of `width` filled up to an even number with 0.
  void (*widen)(const std::uint8_t* codes, int width, int zero, std::int16_t* out);
  // Words: 16 columns of `rows` rows as [step][16][2], less `zero`; the last step is filled up
  // with 0. Of unsigned and of signed codes.
  void (*interleave)(const std::uint8_t* codes, std::ptrdiff_t stride, int rows, int zero,
                     std::int16_t* panel);
  void (*interleave_signed)(const std::int8_t* codes, std::ptrdiff_t stride, int rows,
                            std::int16_t* panel);

  // Per column over the rows: sums in double precision, in order, and the ends of the range, all
  // added to what is there.
  void (*column_stats)(const float* x, std::ptrdiff_t stride, int rows, int columns, double* sums,
                       float* low, float* high);
  // Weights of one output channel to codes: rne(clamp((w - low) / scale, 0, levels)) - half; a NaN
  // becomes -half.
  void (*weight_codes)(const float* weights, int count, float low, float scale, float levels,
                       float half, std::int8_t* codes);
};

}  // namespace bitcycle::integer
