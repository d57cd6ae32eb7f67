#pragma once

// The unit that convolutional networks are made of: convolution, batch norm, residual, activation,
//
//   unit(x, residual) = activation(norm(conv(x)) + residual)
//
// It either simulates low precision (quantizes, then computes in float; any device) or executes it
// (integer kernels on the CPU), see bitcycle/quant/executor.h. The zoo's networks use it, and so
// can others.

#include "bitcycle/network/network.h"
#include "bitcycle/nn/quant_conv.h"
#include "bitcycle/quant/executor.h"
#include "bitcycle/quant/unit_tensor.h"

#include <memory>

namespace bitcycle::integer {
class ConvWeights;
}

namespace bitcycle {

struct ConvUnitOptions {
  torch::nn::Conv2dOptions conv;
  Activation activation = Activation::relu;
};

class ConvUnitImpl : public torch::nn::Module, public SchemeUser {
 public:
  explicit ConvUnitImpl(const ConvUnitOptions& options);

  void pretty_print(std::ostream& stream) const override;

  // Float, or half where the unit executes in integers; the output has the input's type.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& residual = {});
  // The same between units of a network, where executes() says so.
  IntegerUnitOutput execute(const UnitTensor& x, const UnitTensor& residual, Delivery delivery,
                            ChannelMeans means = ChannelMeans::unwanted);

  // The executor is used where it supports the layer's bits and geometry.
  void use_scheme(const std::shared_ptr<const Scheme>& scheme, Executor executor) override;
  // Whether the integer kernels take the next forward pass of an input like this.
  bool executes(const at::Tensor& x) const { return obstacle(x).empty(); }

  QuantConv2d conv;
  torch::nn::BatchNorm2d norm;
  Activation activation;

 private:
  // The convolution's mode counts, and the norm's own for its statistics: in a network the two are
  // registered where their names say, and the unit itself is told nothing.
  bool training() const { return conv->is_training(); }
  // What keeps them from it, see Execution::obstacle.
  std::string obstacle(const at::Tensor& x) const;
  // activation(norm(y) + residual), as the scheme has them.
  at::Tensor finish(const at::Tensor& y, const at::Tensor& residual);
  NormCall norm_call(const at::Tensor& y);

  Executor executor_ = Executor::simulate;
  RunningRange norm_range_;  // of the norm's input; its buffers are there where the scheme asks
  bool keeps_norm_range_ = false;
  std::uint64_t norm_step_ = 0;  // of the convolution's steps, the last with a call
  std::shared_ptr<integer::ConvWeights> weights_;  // made when first needed

 protected:
  // So that a unit can stand in a torch::nn::Sequential, which calls its parts with one tensor.
  FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(at::Tensor())})
};
TORCH_MODULE(ConvUnit);

}  // namespace bitcycle
