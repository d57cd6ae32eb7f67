#pragma once

#include "bitcycle/quant/layer_function.h"

#include "nn/layer_calls.h"

namespace bitcycle {

// Quantize, then compute in float. The gradient of the weight is one product over the rows of all
// calls.
class SimulatedCalls : public LinearCalls {
 public:
  explicit SimulatedCalls(const LayerCalls& layer);

  at::Tensor forward(const at::Tensor& x) override;
  at::Tensor backward(const at::Tensor& error, InputGradient wanted) override;
  LinearGradients gradients() override;

 private:
  struct Call {
    LayerCall call;
    at::Tensor input;  // as quantized
    at::Tensor x;      // as it was; undefined where nobody asks
  };

  LayerCalls layer_;
  at::Tensor weight_;  // as quantized
  std::vector<Call> calls_;
  std::vector<at::Tensor> errors_, quantized_errors_;  // last call first
};

}  // namespace bitcycle
