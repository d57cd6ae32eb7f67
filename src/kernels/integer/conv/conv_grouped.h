#pragma once

// Convolutions with groups that are neither one nor depthwise: plain loops, correct for every
// shape. No network of the zoo has one, so they were not worth a vector kernel.

#include "bitcycle/kernels/integer/conv.h"

namespace bitcycle::integer {

inline bool in_groups(const ConvShape& shape) {
  return shape.groups > 1 && !shape.depthwise();
}

void grouped_forward(const ConvShape& shape, Codes input, const ConvWeights& weights,
                     std::span<const float> scales, MutableReal output, ChannelStats& stats);
void grouped_backward_data(const ConvShape& shape, Codes errors, const ConvWeights& weights,
                           MutableReal input_gradient);
void grouped_weight_gradient(const ConvShape& shape, Codes input, Codes errors,
                             std::span<const double> factors, std::span<float> gradient);

}  // namespace bitcycle::integer
