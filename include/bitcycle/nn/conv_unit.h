#pragma once

// The unit that convolutional networks are made of: convolution, batch norm, residual, activation,
//
//   unit(x, residual) = activation(norm(conv(x)) + residual)
//
// It either simulates low precision (quantizes, then computes in float; any device) or executes it
// (integer kernels on the CPU). The zoo's networks use it, and so can others.

#include "bitcycle/kernels/integer/conv.h"
#include "bitcycle/network/network.h"
#include "bitcycle/nn/quant_conv.h"

#include <memory>
#include <optional>

namespace bitcycle {

enum class Executor { simulate, integer };

struct ConvUnitOptions {
  torch::nn::Conv2dOptions conv;
  Activation activation = Activation::relu;
};

// A tensor with its range, where that is known; saves the next unit a pass.
struct RangedTensor {
  at::Tensor values;
  std::optional<Range> range;
};

class ConvUnitImpl : public torch::nn::Module {
 public:
  explicit ConvUnitImpl(const ConvUnitOptions& options);

  void pretty_print(std::ostream& stream) const override;

  // Float, or half where the unit executes in integers; the output has the input's type.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& residual = {});
  RangedTensor forward(const RangedTensor& x, const at::Tensor& residual);

  // Which executor to use where it supports the layer's bits and geometry.
  void set_executor(Executor executor) { executor_ = executor; }
  // Whether the integer kernels take the next forward pass of an input on this device.
  bool executes(const at::Device& device) const;

  QuantConv2d conv;
  torch::nn::BatchNorm2d norm;
  Activation activation;

 private:
  RangedTensor execute(const RangedTensor& x, const at::Tensor& residual);

  Executor executor_ = Executor::simulate;
  std::shared_ptr<integer::ConvWeights> weights_;  // made when first needed
};
TORCH_MODULE(ConvUnit);

}  // namespace bitcycle
