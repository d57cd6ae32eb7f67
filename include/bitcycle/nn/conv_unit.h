#pragma once

// The unit that convolutional networks are made of: convolution, batch norm, residual, activation,
//
//   unit(x, residual) = activation(norm(conv(x)) + residual)
//
// with the three steps after the convolution fused. The zoo's networks use it, and so can others.

#include "bitcycle/network/network.h"
#include "bitcycle/nn/quant_conv.h"

namespace bitcycle {

struct ConvUnitOptions {
  torch::nn::Conv2dOptions conv;
  Activation activation = Activation::relu;
};

class ConvUnitImpl : public torch::nn::Module {
 public:
  explicit ConvUnitImpl(const ConvUnitOptions& options);

  void pretty_print(std::ostream& stream) const override;
  at::Tensor forward(const at::Tensor& x, const at::Tensor& residual = {});

  QuantConv2d conv;
  torch::nn::BatchNorm2d norm;
  Activation activation;
};
TORCH_MODULE(ConvUnit);

}  // namespace bitcycle
