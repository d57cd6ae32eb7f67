#pragma once

// Batch norm, residual add and ReLU over an NHWC tensor in float, fused into two passes forward and
// two backward. Sums are taken over fixed blocks of pixels and combined in order, so the result
// does not depend on the number of threads.

#include "bitcycle/network/network.h"

#include <cstdint>
#include <span>
#include <vector>

namespace bitcycle {

// A tensor of pixels x channels, channels innermost.
struct PixelShape {
  std::int64_t pixels = 0;
  std::int64_t channels = 0;
};

struct ChannelStatistics {
  std::vector<float> mean;
  std::vector<float> variance;  // biased
};

ChannelStatistics channel_statistics(std::span<const float> x, PixelShape shape);

// y = activation(scale[c] * x + shift[c] + residual); `residual` may be empty.
void scale_shift_activate(std::span<const float> x, PixelShape shape, std::span<const float> scale,
                          std::span<const float> shift, std::span<const float> residual,
                          Activation activation, std::span<float> y);

// What the backward pass of a training-mode batch norm needs from the forward pass.
struct BatchNormSaved {
  std::span<const float> x;        // batch norm's input
  std::span<const float> y;        // the unit's output, whose sign is the ReLU's mask; or empty
  std::span<const float> mean;     // of this batch
  std::span<const float> inverse;  // 1 / sqrt(variance + epsilon)
  std::span<const float> weight;   // gamma
  Activation activation = Activation::none;
  // What the output was made by, which tells its sign where there is no y. Without a residual only.
  std::span<const float> scale = {}, shift = {};
};

struct BatchNormGradients {
  std::span<float> x;         // gradient of batch norm's input
  std::span<float> residual;  // gradient of the residual; may be empty
  std::span<float> weight;
  std::span<float> bias;
};

void batch_norm_backward(std::span<const float> error, PixelShape shape,
                         const BatchNormSaved& saved, const BatchNormGradients& gradients);

}  // namespace bitcycle
