#pragma once

// Convolutions with groups that are neither one nor depthwise: plain loops, correct for every
// shape. No network of the zoo has one, so they were not worth a vector kernel.

#include "bitcycle/kernels/integer/conv.h"

namespace bitcycle::integer {

inline bool in_groups(const ConvShape& shape) {
  return shape.groups > 1 && !shape.depthwise();
}

// `kind_of` has each image's kind, `scales` each kind's channels.
void grouped_forward(const ConvShape& shape, std::span<const ImageCodes> kinds,
                     std::span<const std::size_t> kind_of, const ConvWeights& weights,
                     std::span<const std::vector<float>> scales, MutableReal output,
                     ChannelStats& stats);
// The codes are in memory.
void grouped_backward_data(const ConvShape& shape, Codes errors, std::span<const int> images,
                           const ConvWeights& weights, MutableReal input_gradient);
void grouped_weight_gradient(const ConvShape& shape, Codes input, Codes errors,
                             std::span<const int> images, std::span<const double> factors,
                             std::span<float> gradient);

}  // namespace bitcycle::integer
