#pragma once

#include "bitcycle/nn/linear_calls.h"
#include "bitcycle/nn/quant_layer.h"

#include <vector>

namespace bitcycle {

// The layer that is called, and each call's noise. The layer itself is asked for ranges, in the
// forward pass only.
struct LayerCalls {
  QuantLayer& layer;
  bool training = true;
  at::Tensor weight, bias;
  std::vector<NoiseKey> noise;
};

}  // namespace bitcycle
