#pragma once

// The three products of a fully connected layer in integers, on rows of codes, without autograd in
// between: a layer that multiplies with the same weights many times in a step (a recurrent one)
// quantizes and packs them once and calls these functions as often as it likes.
//
//   weights.quantize(w, 8);                                     // once per step
//   quantize_rows(x, in, params = code_params(row_range(x), 8), codes);
//   linear_forward(weights, {codes, rows, in, params}, bias, y);
//   const ErrorStats stats = error_stats(dy, weights);          // dy is the gradient of y
//   quantize_errors(dy, weights, params = code_params(stats.range, 8), noise, errors);
//   linear_input_gradient(weights, {errors, rows, out, params}, dx);
//   linear_weight_gradient(weights, {input, errors}, dw);
//
// Sums are exact at 2 to 8 bits on either side, errors at up to 16, and at every size; equations:
// Note [Integer scheme] in docs/numerics.md. Threads (OpenMP's current number) share the work, and
// no result depends on their number or on the instruction set.

#include "bitcycle/base/random.h"
#include "bitcycle/kernels/integer/tensor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bitcycle::integer {

struct LinearShape {
  int inputs = 1;
  int outputs = 1;

  std::int64_t weights() const { return std::int64_t{inputs} * outputs; }
};

// A layer's weights as codes, packed for the instruction set in use. Built once per layer;
// quantize() refills it without allocating.
class LinearWeights {
 public:
  explicit LinearWeights(LinearShape shape);
  ~LinearWeights();
  LinearWeights(LinearWeights&&) noexcept;
  LinearWeights& operator=(LinearWeights&&) noexcept;

  // `weights` is [out][in]; the range is taken per output. What is not finite makes its output's
  // scale NaN (Note [Poison] in bitcycle/kernels/finite.h).
  void quantize(std::span<const float> weights, int bits);

  LinearShape shape() const;
  int bits() const;
  // Per output: weight = scales[o] * (code + offsets[o]), codes in [-2^(bits-1), 2^(bits-1)).
  std::span<const float> scales() const;
  std::span<const float> offsets() const;
  std::span<const std::int8_t> codes() const;  // [out][in]

  struct State;
  const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// Codes of rows, one after the other; the buffer has kCodeSlack bytes more (row_code_bytes). Of
// errors of more than 8 bits, the high codes of all rows, then the low ones (code_planes.h).
struct RowCodes {
  const std::uint8_t* data = nullptr;
  int rows = 0;
  int width = 0;
  CodeParams params;
};
std::size_t row_code_bytes(int rows, int width, int bits = kMaxBits);

// The range of all values; kPoisoned where one is not finite.
Range row_range(std::span<const float> x);
// Rounds to nearest even. `codes` has row_code_bytes() bytes.
void quantize_rows(std::span<const float> x, int width, const CodeParams& params,
                   std::uint8_t* codes);

// What a gradient of the output [rows][out] tells before it is quantized.
struct ErrorStats {
  Range range;               // of the errors: the gradient times the weight scale of its output
  std::vector<double> sums;  // per output, over the rows: the gradient of a bias
};
ErrorStats error_stats(std::span<const float> gradient, const LinearWeights& weights);
// The errors' codes, rounded stochastically by the noise of the element's index.
void quantize_errors(std::span<const float> gradient, const LinearWeights& weights,
                     const CodeParams& params, NoiseKey noise, std::uint8_t* codes);

// output[rows][out] = input . weights^T + bias, NaN as a whole where it is not finite; an empty
// bias is 0.
void linear_forward(const LinearWeights& weights, const RowCodes& input,
                    std::span<const float> bias, std::span<float> output);

// gradient[rows][in] = errors . weights
void linear_input_gradient(const LinearWeights& weights, const RowCodes& errors,
                           std::span<float> gradient);

// The input and the errors of one call of the layer.
struct LinearTerm {
  RowCodes input;
  RowCodes errors;
};
// gradient[out][in] = errors^T . input, the exact sum times its factor in double precision, rounded
// once.
void linear_weight_gradient(const LinearWeights& weights, const LinearTerm& term,
                            std::span<float> gradient);
// The sum over the calls of a step, whose ranges may differ: each exact sum is rounded to float and
// added by fma with its factor, in the order of the terms. Goes through the gradient once.
void linear_weight_gradients(const LinearWeights& weights, std::span<const LinearTerm> terms,
                             std::span<float> gradient);

}  // namespace bitcycle::integer
