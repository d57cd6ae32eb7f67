#pragma once

// What the instruction sets share of LinearKernels: plain loops that the compiler vectorizes for
// the set whose source file includes them. No standard-library templates but std::fma: an
// instantiation compiled for one set must never be what the rest of the program runs.

#include "kernels/integer/isa/linear_kernels.h"

#include <cmath>

namespace bitcycle::integer {
namespace {

// Sums wrap around on the way; what they stand for fits.
inline std::int32_t wrapped(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

template <bool kShift>
void finish_rows(const FinishJob& job) {
  for (int r = 0; r < job.rows; ++r) {
    const std::int32_t* __restrict sums = job.sums + r * job.sum_stride;
    float* __restrict out = job.out + r * job.out_stride;
    const float box = job.boxes[r];
    for (int i = 0; i < job.lanes; ++i) {
      const float sum = static_cast<float>(wrapped(sums[i], job.lane_int[i]));
      const float value = std::fma(job.offset[i], box, sum) * job.scale[i];
      out[i] = kShift ? value + job.shift[i] : value;
    }
  }
}

void finish(const FinishJob& job) {
  job.shift != nullptr ? finish_rows<true>(job) : finish_rows<false>(job);
}

void gradient(const GradientTileJob& job) {
  for (int r = 0; r < job.rows; ++r) {
    const std::int32_t* __restrict sums = job.sums + r * job.sum_stride;
    float* __restrict out = job.out + r * job.out_stride;
    const std::int32_t row = job.row_int[r];
    const double factor = job.factors[r];
    for (int i = 0; i < job.lanes; ++i) {
      const std::int32_t sum = wrapped(wrapped(sums[i], job.lane_int[i]), row);
      out[i] = static_cast<float>(static_cast<double>(sum) * factor);
    }
  }
}

void add_gradient(const GradientTileJob& job) {
  for (int r = 0; r < job.rows; ++r) {
    const std::int32_t* __restrict sums = job.sums + r * job.sum_stride;
    float* __restrict out = job.out + r * job.out_stride;
    const std::int32_t row = job.row_int[r];
    const float factor = job.float_factors[r];
    for (int i = 0; i < job.lanes; ++i) {
      const std::int32_t sum = wrapped(wrapped(sums[i], job.lane_int[i]), row);
      out[i] = std::fma(static_cast<float>(sum), factor, out[i]);
    }
  }
}

// kTerms rows at a time, so that sums are read and written once for all of them.
template <int kTerms, typename Code>
void add_rows_at_once(const SparseTerm* terms, const Code* codes, std::ptrdiff_t width,
                      std::int32_t* __restrict sums) {
  const Code* rows[kTerms];
  std::int32_t factors[kTerms];
  for (int t = 0; t < kTerms; ++t) {
    rows[t] = codes + terms[t].row * width;
    factors[t] = terms[t].factor;
  }
  for (std::ptrdiff_t i = 0; i < width; ++i) {
    std::int32_t sum = sums[i];
    for (int t = 0; t < kTerms; ++t) sum += factors[t] * rows[t][i];
    sums[i] = sum;
  }
}
template <typename Code>
void add_rows(const SparseTerm* terms, std::size_t count, const Code* codes, int width,
              std::int32_t* sums) {
  constexpr std::size_t kTerms = 4;
  std::size_t t = 0;
  for (; t + kTerms <= count; t += kTerms) {
    add_rows_at_once<kTerms>(terms + t, codes, width, sums);
  }
  for (; t < count; ++t) add_rows_at_once<1>(terms + t, codes, width, sums);
}

void widen(const std::uint8_t* codes, int width, int zero, std::int16_t* __restrict out) {
  for (int i = 0; i < width; ++i) out[i] = static_cast<std::int16_t>(codes[i] - zero);
  if (width % 2 != 0) out[width] = 0;
}

template <typename Code>
void interleave_pairs(const Code* codes, std::ptrdiff_t stride, int rows, int zero,
                      std::int16_t* __restrict panel) {
  for (int r = 0; r + 1 < rows; r += 2, codes += 2 * stride, panel += 32) {
    const Code* __restrict next = codes + stride;
    for (int c = 0; c < 16; ++c) {
      panel[2 * c] = static_cast<std::int16_t>(codes[c] - zero);
      panel[2 * c + 1] = static_cast<std::int16_t>(next[c] - zero);
    }
  }
  if (rows % 2 == 0) return;
  for (int c = 0; c < 16; ++c) {
    panel[2 * c] = static_cast<std::int16_t>(codes[c] - zero);
    panel[2 * c + 1] = 0;
  }
}
void interleave_words(const std::uint8_t* codes, std::ptrdiff_t stride, int rows, int zero,
                      std::int16_t* panel) {
  interleave_pairs(codes, stride, rows, zero, panel);
}
void interleave_signed_words(const std::int8_t* codes, std::ptrdiff_t stride, int rows,
                             std::int16_t* panel) {
  interleave_pairs(codes, stride, rows, 0, panel);
}

void column_stats(const float* x, std::ptrdiff_t stride, int rows, int columns,
                  double* __restrict sums, float* __restrict low, float* __restrict high) {
  for (int r = 0; r < rows; ++r, x += stride) {
    const float* __restrict row = x;
    for (int c = 0; c < columns; ++c) {
      sums[c] += static_cast<double>(row[c]);
      low[c] = row[c] < low[c] ? row[c] : low[c];
      high[c] = row[c] > high[c] ? row[c] : high[c];
    }
  }
}

// Floats from 2^23 on have no fraction, so adding and taking off 1.5 * 2^23 rounds to nearest even.
void weight_codes(const float* weights, int count, float low, float scale, float levels, float half,
                  std::int8_t* __restrict codes) {
  for (int i = 0; i < count; ++i) {
    const float p = (weights[i] - low) / scale;
    const float above = 0.0f < p ? p : 0.0f;
    const float clamped = above < levels ? above : levels;
    const float rounded = (clamped + 0x1.8p23f) - 0x1.8p23f;
    codes[i] = static_cast<std::int8_t>(static_cast<int>(rounded - half));
  }
}

constexpr LinearKernels with_loops(Operands operands, int tile_rows, int tile_panels,
                                   int sparse_errors, TileKernel tile, TileKernel outer_tile) {
  return {operands,
          tile_rows,
          tile_panels,
          sparse_errors,
          tile,
          outer_tile,
          finish,
          gradient,
          add_gradient,
          add_rows<std::int8_t>,
          add_rows<std::uint8_t>,
          widen,
          interleave_words,
          interleave_signed_words,
          column_stats,
          weight_codes};
}

}  // namespace
}  // namespace bitcycle::integer
