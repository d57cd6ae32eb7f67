#pragma once

// The exact integer sums of backward-weights: sums[out][in / groups][k][k] = sum over the batch and
// all output pixels of (error - zero) * (input - zero).

#include "bitcycle/kernels/integer/conv.h"

namespace bitcycle::integer {

void dense_weight_sums(const ConvShape& shape, Codes input, Codes errors,
                       std::span<std::int64_t> sums);
void depthwise_weight_sums(const ConvShape& shape, Codes input, Codes errors,
                           std::span<std::int64_t> sums);

}  // namespace bitcycle::integer
