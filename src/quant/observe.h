#pragma once

// Looks at what quantizing does to the tensors of a layer, for LayerStatistics. Nothing here
// changes what is computed. Of large tensors evenly spaced rows (pictures, output channels, rows of
// a product) are looked at, so that a look costs little of a step; everything is added up by one
// thread in one order, so that results do not depend on the number of threads.

#include "bitcycle/events/layer_statistics.h"
#include "bitcycle/kernels/integer/linear.h"
#include "bitcycle/quant/layer_function.h"

#include <algorithm>
#include <optional>
#include <span>

namespace bitcycle {

// Values of a tensor that are looked at, if it has more: as many as give the ratio to a hundredth.
inline constexpr std::int64_t kLookedAt = 1 << 16;

// Every so many rows are looked at.
inline std::int64_t row_step(std::int64_t rows, std::int64_t row_size) {
  return std::clamp<std::int64_t>((rows * row_size + kLookedAt - 1) / kLookedAt, 1,
                                  std::max<std::int64_t>(1, rows));
}

// The statistics of a role, which have this range too from now on.
TensorStatistics& with_range(std::optional<TensorStatistics>& role, Range range);

struct SeenValue {
  double x = 0, quantized = 0;
  double code = 0;
};

// Adds `count` values of so many bits; value(i) is a SeenValue.
template <typename Value>
void add_values(TensorStatistics& to, int bits, std::int64_t count, const Value& value) {
  constexpr auto kLast = static_cast<std::int64_t>(TensorStatistics::kParts) - 1;
  const double parts_per_code = static_cast<double>(kLast + 1) / static_cast<double>(1ULL << bits);
  double signal = 0, noise = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [x, quantized, code] = value(i);
    signal += x * x;
    noise += (x - quantized) * (x - quantized);
    const double part = code * parts_per_code;  // of a code that is not finite: none
    if (part >= 0) ++to.codes[static_cast<std::size_t>(std::min<double>(part, kLast))];
  }
  to.widest = std::max(to.widest, bits);
  to.count += count;
  to.bit_sum += static_cast<double>(bits) * static_cast<double>(count);
  to.signal += signal;
  to.noise += noise;
}

// In a simulated call: a tensor and what became of it. Weights are looked at once a step.
void observe_input(const at::Tensor& x, const at::Tensor& quantized, const LayerCall& call);
void observe_weight(const at::Tensor& weight, const at::Tensor& quantized, const LayerCall& call);
void observe_errors(const at::Tensor& error, const at::Tensor& quantized, const LayerCall& call);

// Weights as the integer kernels have them, [outputs][...]: weight = scale * (code + offset).
struct SeenWeights {
  std::span<const float> values;
  std::span<const std::int8_t> codes;
  std::span<const float> scales, offsets;
  int bits = 0;
};
void observe_weights(std::optional<TensorStatistics>& role, const SeenWeights& weights);

// A call of a fully connected layer in integers: its weights, and rows of its input or its errors
// with their codes. Errors were quantized with the weight scale of their output multiplied in; they
// are looked at without it. Null: nobody looks.
struct SeenRows {
  const at::Tensor& weight;
  const integer::LinearWeights& weights;
  std::span<const float> values;
  const integer::RowCodes& codes;
};
void observe_forward(LayerStatistics* observed, const SeenRows& input, Range range);
void observe_backward(LayerStatistics* observed, const SeenRows& errors);

}  // namespace bitcycle
