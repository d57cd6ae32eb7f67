#pragma once

// Drop-in quantized counterparts of torch::nn::Conv2d. In training, forward quantizes weights
// (range per output channel) and input (range per tensor) to the layer's bits; backward quantizes
// the error that arrives at the output, once, and uses it for both gradients (SBM,
// docs/numerics.md).
//
//   QuantConv2d conv(torch::nn::Conv2dOptions(16, 32, 3).padding(1).bias(false));
//   conv->set_precision({.weight = 4, .activation = 4, .error = 8}, RandomKey(seed).derive(step));
//   at::Tensor y = conv->forward(x);

#include "bitcycle/nn/quant_layer.h"

namespace bitcycle {

class QuantConv2dImpl : public torch::nn::Cloneable<QuantConv2dImpl>, public QuantLayer {
 public:
  explicit QuantConv2dImpl(torch::nn::Conv2dOptions options);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  at::Tensor forward(const at::Tensor& x);

  torch::nn::Conv2dOptions options;
  at::Tensor weight;  // [out, in / groups, height, width], channels-last
  at::Tensor bias;    // undefined unless options.bias(); never quantized
};
TORCH_MODULE(QuantConv2d);

}  // namespace bitcycle
