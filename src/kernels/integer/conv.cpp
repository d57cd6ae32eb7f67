// The three convolutions in terms of the shared drivers: which codes are gathered, and what the
// integer sums are worth. Note [Integer scheme] in docs/numerics.md has the equations.

#include "bitcycle/kernels/integer/conv.h"

#include "kernels/integer/conv_grouped.h"
#include "kernels/integer/gather.h"
#include "kernels/integer/weight_gradient.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bitcycle::integer {
namespace {

std::vector<float> to_panels(std::span<const float> values, int channels) {
  std::vector<float> out(static_cast<std::size_t>(padded(channels)), 0.0f);
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

std::vector<float> forward_scales(float activation_scale, const ConvWeights& weights) {
  std::vector<float> scales(weights.scales().begin(), weights.scales().end());
  for (float& scale : scales) scale *= activation_scale;
  return scales;
}

bool supported_by_gather(const ConvShape& shape) {
  return shape.groups == 1 || shape.depthwise();
}

}  // namespace

CodeParams code_params(Range range, int bits) {
  assert(bits >= kMinBits && bits <= kMaxBits);
  CodeParams params;
  params.bits = bits;
  const auto levels = static_cast<float>(params.levels());
  const float low = std::min(range.low, 0.0f);
  const float high = std::max(range.high, 0.0f);
  // A tensor of zeros has no scale of its own; any will do, and 1 keeps everything finite.
  const float scale = (high - low) / levels;
  params.scale = scale > 0.0f ? scale : 1.0f;
  params.inverse_scale = 1.0f / params.scale;
  if (!std::isfinite(params.inverse_scale)) {  // subnormal scale: every value rounds to 0
    params.scale = params.inverse_scale = 1.0f;
  }
  const float zero = std::nearbyint(-low * params.inverse_scale);
  params.zero_point = static_cast<int>(std::min(levels, std::max(0.0f, zero)));
  return params;
}

void conv_forward(const ConvShape& shape, Codes input, const ConvWeights& weights,
                  std::span<const float> bias, MutableReal output, ChannelStats* stats) {
  assert(stats == nullptr || bias.empty());
  const int channels = shape.out_channels;
  const std::vector<float> offsets = to_panels(weights.offsets(), channels);
  const std::vector<float> scales =
      to_panels(forward_scales(input.params.scale, weights), channels);
  const std::vector<float> biases = to_panels(bias, channels);
  if (!supported_by_gather(shape)) {
    grouped_forward(shape, input, weights, scales, biases, output, stats);
    return;
  }
  const ConvWeights::State& state = weights.state();
  gather({.grid = shape.input_grid(),
          .codes = input,
          .weight_bits = state.bits,
          .phases = {&state.forward, 1},
          .step = 1,
          .out_height = shape.out_height(),
          .out_width = shape.out_width(),
          .box = shape.depthwise() ? Box::channel : Box::pixel,
          .box_weights = {},
          .offsets = offsets,
          .scales = scales,
          .bias = biases,
          .output = output,
          .stats = stats});
}

void conv_backward_data(const ConvShape& shape, Codes errors, const ConvWeights& weights,
                        MutableReal input_gradient) {
  if (!supported_by_gather(shape)) {
    grouped_backward_data(shape, errors, weights, input_gradient);
    return;
  }
  const ConvWeights::State& state = weights.state();
  const auto channels = static_cast<std::size_t>(padded(shape.in_channels));
  // Depthwise: the offset belongs to the channel. Dense: it belongs to the summed-over channel, so
  // it weighs the codes in the box sum, which all results then share.
  const std::vector<float> offsets = to_panels(weights.offsets(), shape.out_channels);
  const std::vector<float> ones(channels, 1.0f);
  const std::vector<float> zeros(channels, 0.0f);
  const std::vector<float> scales(channels, errors.params.scale);
  gather({.grid = shape.error_grid(),
          .codes = errors,
          .weight_bits = state.bits,
          .phases = state.backward,
          .step = shape.stride,
          .out_height = shape.height,
          .out_width = shape.width,
          .box = shape.depthwise() ? Box::channel : Box::pixel,
          .box_weights = shape.depthwise() ? std::span<const float>{} : offsets,
          .offsets = shape.depthwise() ? offsets : ones,
          .scales = scales,
          .bias = zeros,
          .output = input_gradient,
          .stats = nullptr});
}

void conv_backward_weights(const ConvShape& shape, Codes input, Codes errors,
                           const ConvWeights& weights, std::span<float> weight_gradient) {
  assert(static_cast<std::int64_t>(weight_gradient.size()) == shape.weights());
  std::vector<double> factors;
  for (const float scale : weights.scales()) {
    factors.push_back(double{input.params.scale} * errors.params.scale / scale);
  }
  const auto kernel = shape.depthwise()   ? depthwise_weight_gradient
                      : shape.groups == 1 ? dense_weight_gradient
                                          : grouped_weight_gradient;
  kernel(shape, input, errors, factors, weight_gradient);
}

}  // namespace bitcycle::integer
