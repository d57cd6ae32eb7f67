#pragma once

// The quantized counterpart of torch::nn::Linear: weights by output row, input and error by tensor,
// as in QuantConv2d.

#include "bitcycle/nn/quant_layer.h"

namespace bitcycle {

class QuantLinearImpl : public torch::nn::Cloneable<QuantLinearImpl>, public QuantLayer {
 public:
  explicit QuantLinearImpl(torch::nn::LinearOptions options);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  at::Tensor forward(const at::Tensor& x);

  torch::nn::LinearOptions options;
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // undefined unless options.bias(); never quantized
};
TORCH_MODULE(QuantLinear);

}  // namespace bitcycle
