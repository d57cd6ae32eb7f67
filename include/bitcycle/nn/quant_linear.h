#pragma once

// The quantized counterpart of torch::nn::Linear: weights by output row, input and error by tensor,
// as in QuantConv2d. A tied layer, whose weight is another module's parameter, has none of its own
// and is given it with every call.

#include "bitcycle/nn/linear_calls.h"
#include "bitcycle/nn/quant_layer.h"
#include "bitcycle/quant/executor.h"

#include <memory>

namespace bitcycle {

class LinearCodes;

enum class WeightOwner { layer, caller };

class QuantLinearImpl : public torch::nn::Cloneable<QuantLinearImpl>, public QuantLayer {
 public:
  explicit QuantLinearImpl(torch::nn::LinearOptions options,
                           WeightOwner owner = WeightOwner::layer);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  // `shared_weight`: of a tied layer.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& shared_weight = {});

  // So many calls with inputs like `x`, one after the other within one node of autograd.
  c10::intrusive_ptr<LinearCalls> calls(const at::Tensor& x, std::int64_t count);

  // The executor is used where it supports the layer's bits.
  void use_scheme(const std::shared_ptr<const Scheme>& scheme, Executor executor) override {
    QuantLayer::use_scheme(scheme, executor);
    executor_ = executor;
  }
  // Whether the integer kernels take the next forward pass of an input like this.
  bool executes(const at::Tensor& x) const { return obstacle(x).empty(); }

  torch::nn::LinearOptions options;
  at::Tensor weight;  // [out, in]; undefined where the caller owns it
  at::Tensor bias;    // undefined unless options.bias(); never quantized

 private:
  at::Tensor execute(const at::Tensor& x, const at::Tensor& weight_in_use);
  // What keeps them from it, see Execution::obstacle.
  std::string obstacle(const at::Tensor& x) const {
    return call_obstacle(*this, executor_, x, is_training());
  }
  // Memory for the codes of the step; those of the step before do not count.
  std::shared_ptr<LinearCodes> codes_of_step();

  WeightOwner owner_;
  Executor executor_ = Executor::simulate;
  std::shared_ptr<LinearCodes> codes_;  // made when first needed

 protected:
  // So that a layer can stand in a torch::nn::Sequential, which calls its parts with one tensor.
  FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(at::Tensor())})
};
TORCH_MODULE(QuantLinear);

}  // namespace bitcycle
