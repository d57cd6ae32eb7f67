#pragma once

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
  LayerCalls layer_;
  LayerBits bits_;
  at::Tensor weight_;                                  // as quantized
  std::vector<at::Tensor> inputs_;                     // likewise, by call
  std::vector<at::Tensor> errors_, quantized_errors_;  // last call first
};

}  // namespace bitcycle
