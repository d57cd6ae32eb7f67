#pragma once

// The quantized counterpart of torch::nn::Linear: weights by output row, input and error by tensor,
// as in QuantConv2d.

#include "bitcycle/nn/quant_layer.h"
#include "bitcycle/quant/integer_unit.h"

#include <memory>

namespace bitcycle {

class QuantLinearImpl : public torch::nn::Cloneable<QuantLinearImpl>, public QuantLayer {
 public:
  explicit QuantLinearImpl(torch::nn::LinearOptions options);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  at::Tensor forward(const at::Tensor& x);

  // Which executor to use where it supports the layer's bits and size.
  void set_executor(Executor executor) { executor_ = executor; }
  // Whether the integer kernels take the next forward pass of an input like this.
  bool executes(const at::Tensor& x) const;

  torch::nn::LinearOptions options;
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // undefined unless options.bias(); never quantized

 private:
  at::Tensor execute(const at::Tensor& x);

  Executor executor_ = Executor::simulate;
  std::shared_ptr<integer::ConvWeights> codes_;  // made when first needed
};
TORCH_MODULE(QuantLinear);

}  // namespace bitcycle
