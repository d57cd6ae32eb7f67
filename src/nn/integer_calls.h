#pragma once

#include "bitcycle/kernels/integer/tensor.h"
#include "bitcycle/quant/integer_linear.h"

#include "nn/layer_calls.h"

#include <vector>

namespace bitcycle {

// In the integer scheme, by either executor. The gradient of the weight goes through it once, over
// the terms of all calls.
class IntegerCalls : public LinearCalls {
 public:
  IntegerCalls(const LayerCalls& layer, Executor executor, std::shared_ptr<LinearCodes> codes);

  at::Tensor forward(const at::Tensor& x) override;
  at::Tensor backward(const at::Tensor& error, InputGradient wanted) override;
  LinearGradients gradients() override;

 private:
  // The codes of a tensor [rows, width].
  struct Coded {
    at::Tensor codes;
    std::int64_t rows = 0;
    integer::CodeParams params;
  };
  LayerCalls layer_;
  LayerBits bits_;
  Executor executor_;
  std::shared_ptr<LinearCodes> codes_;
  std::vector<Coded> inputs_;      // by call
  std::vector<Coded> errors_;      // last call first
  std::vector<double> bias_sums_;  // over the calls that had their errors
};

}  // namespace bitcycle
