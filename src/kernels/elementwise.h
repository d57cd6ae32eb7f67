#pragma once

// The inner loops of the float kernels, one table per instruction set. They are plain loops that
// the compiler vectorizes: elementwise.inl holds them once, and elementwise_<isa>.cpp compiles
// them.

#include "bitcycle/kernels/batch_norm.h"
#include "bitcycle/kernels/dropout.h"
#include "bitcycle/kernels/isa.h"
#include "bitcycle/kernels/quantize.h"

#include <cstdint>

namespace bitcycle {

// Where a ReLU let its input through: y > 0, without a y scale[c] * x + shift[c] > 0 with x batch
// norm's input, and with neither everywhere.
struct ReluMask {
  const float* y = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
};

// Each function works on `count` consecutive elements, or `pixels` consecutive pixels of
// `channels`.
struct ElementwiseKernels {
  Range (*range)(const float* x, std::int64_t count);
  bool (*finite)(const float* x, std::int64_t count);
  void (*quantize)(const float* x, std::int64_t count, Grid grid, float* out);
  // `first` is the index of x[0] in its tensor (even), which the noise is keyed by.
  void (*quantize_stochastic)(const float* x, std::int64_t count, Grid grid, NoiseKey key,
                              std::int64_t first, float* out);
  // sum[c] and square[c] are overwritten.
  void (*channel_sums)(const float* x, std::int64_t pixels, std::int64_t channels, float* sum,
                       float* square);
  void (*scale_shift_activate)(const float* x, const float* residual, std::int64_t pixels,
                               std::int64_t channels, const float* scale, const float* shift,
                               Activation activation, float* y);
  // error_sum[c] = sum g, product_sum[c] = sum g * (x - mean[c]), g = error masked; writes g to
  // `masked` unless null.
  void (*error_sums)(const float* error, const float* x, ReluMask mask, std::int64_t pixels,
                     std::int64_t channels, const float* mean, float* masked, float* error_sum,
                     float* product_sum);
  // out = a[c] * g + b[c] * x + d[c], g = error masked.
  void (*error_apply)(const float* error, const float* x, ReluMask mask, std::int64_t pixels,
                      std::int64_t channels, const float* a, const float* b, const float* d,
                      float* out);
  // `first` is the index of x[0] in its tensor (even), which the random bits are keyed by.
  void (*drop_out)(const float* x, std::int64_t count, DropRate rate, NoiseKey key,
                   std::int64_t first, float* out);
  // Sum of exp(x - top); out = factor * exp(x - log_sum).
  float (*exp_sum)(const float* x, std::int64_t count, float top);
  void (*exp_scaled)(const float* x, std::int64_t count, float log_sum, float factor, float* out);
  // One row of LstmCell and of LstmCellBackward, in the order of their members.
  void (*lstm_row)(const float* input_gates, const float* hidden_gates, const float* cell,
                   std::int64_t hidden, float* gates, float* next_cell, float* tanh_cell,
                   float* output);
  void (*lstm_row_backward)(const float* gates, const float* cell, const float* tanh_cell,
                            const float* output_error, const float* cell_error, std::int64_t hidden,
                            float* gate_errors, float* next_cell_error);
};

const ElementwiseKernels& elementwise_scalar();
const ElementwiseKernels& elementwise_avx2();
const ElementwiseKernels& elementwise_avx512();

// The table of one instruction set, and of the active one.
const ElementwiseKernels& elementwise_kernels(Isa isa);
const ElementwiseKernels& elementwise_kernels();

}  // namespace bitcycle
