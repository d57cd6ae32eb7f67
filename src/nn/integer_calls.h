#pragma once

#include "bitcycle/quant/integer_unit.h"

#include "nn/layer_calls.h"
#include "quant/unit_state.h"

#include <deque>

namespace bitcycle {

// In the integer scheme, by either executor: the same bytes as calls of the layer one by one.
class IntegerCalls : public LinearCalls {
 public:
  // `codes` is memory for the weight's codes.
  IntegerCalls(const LayerCalls& layer, Executor executor,
               std::shared_ptr<integer::ConvWeights> codes);

  at::Tensor forward(const at::Tensor& x) override;
  at::Tensor backward(const at::Tensor& error, InputGradient wanted) override;
  LinearGradients gradients() override;

 private:
  struct Call {
    UnitState state;
    UnitTensors tensors;
  };
  LayerCalls layer_;
  at::Tensor weight_;  // [out, in, 1, 1]
  IntegerUnitCall unit_;
  std::deque<Call> calls_;
  std::size_t errors_ = 0;  // how many calls have had theirs
  LinearGradients sums_;
};

}  // namespace bitcycle
