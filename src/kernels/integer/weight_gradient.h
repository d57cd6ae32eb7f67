#pragma once

// Backward-weights: exact integer sums over the batch and all output pixels of (error - zero) *
// (input - zero), times a factor per output channel. Gradients are [out][in / groups][k][k].

#include "bitcycle/kernels/integer/conv.h"

namespace bitcycle::integer {

void dense_weight_gradient(const ConvShape& shape, Codes input, Codes errors,
                           std::span<const double> factors, std::span<float> gradient);
void depthwise_weight_gradient(const ConvShape& shape, Codes input, Codes errors,
                               std::span<const double> factors, std::span<float> gradient);

}  // namespace bitcycle::integer
