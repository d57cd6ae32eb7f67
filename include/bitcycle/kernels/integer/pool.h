#pragma once

// Pooling on dense NHWC reals. `grid` gives a tensor's shape; its halo is not used.

#include "bitcycle/kernels/integer/tensor.h"

namespace bitcycle::integer {

// The mean over each image, [batch][channels], and the gradient that it spreads.
void mean_pool(const CodeGrid& input, RealView from, MutableReal to);
void mean_pool_backward(const CodeGrid& input, RealView from, MutableReal to);

struct MaxPool {
  CodeGrid input;
  int kernel = 3;
  int stride = 2;
  int pad = 1;

  CodeGrid output() const {
    return {input.batch, (input.height + 2 * pad - kernel) / stride + 1,
            (input.width + 2 * pad - kernel) / stride + 1, input.channels, 0};
  }
};

// The maximum of each window, padding left out, and which tap it was (output().elements() bytes).
void max_pool(const MaxPool& shape, RealView from, MutableReal to, std::uint8_t* taps);
void max_pool_backward(const MaxPool& shape, RealView from, const std::uint8_t* taps,
                       MutableReal to);

}  // namespace bitcycle::integer
