#pragma once

// torch::nn::LayerNorm over the last dimension, with results that do not depend on the number of
// threads.

#include "bitcycle/quant/layer_norm_function.h"

namespace bitcycle {

class LayerNormImpl : public torch::nn::Module {
 public:
  explicit LayerNormImpl(std::int64_t width)
      : weight(register_parameter("weight", at::ones({width}))),
        bias(register_parameter("bias", at::zeros({width}))) {}

  at::Tensor forward(const at::Tensor& x) const { return layer_norm(x, weight, bias, 1e-5); }

  at::Tensor weight, bias;
};
TORCH_MODULE(LayerNorm);

}  // namespace bitcycle
