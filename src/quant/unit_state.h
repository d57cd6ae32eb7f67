#pragma once

// What a unit's forward pass leaves for its backward pass.

#include "bitcycle/quant/integer_unit.h"

#include "quant/pending_norm.h"

namespace bitcycle {

struct UnitState : torch::CustomClassHolder {
  IntegerUnitCall call;
  integer::CodeParams input;
  std::shared_ptr<const PendingNorm> pending;  // of the input
  std::shared_ptr<StoredInput> stored;         // likewise
  std::shared_ptr<ReturnedGradient> returned;  // where the output's reader leaves its gradient
  integer::ChannelStats stats;                 // of y
  integer::BatchNorm norm;
  float gradient_scale = 1.0f;  // of input and output alike
  bool joined = false;          // whether a residual was added
  IntegerUnitOutput output;     // what autograd does not carry: range and pending norm
};

// The tensors, which autograd keeps and lets go.
struct UnitTensors {
  at::Tensor weight;
  at::Tensor source;  // the input's codes, stored, or the tensor with its norm pending
  at::Tensor y;       // the convolution's output
  at::Tensor mask;    // bits of output > 0; only where a residual made them differ from y's sign
};

struct UnitGradients {
  at::Tensor x, residual, weight, gamma, beta;
};

// What the backward pass has to find besides the parameters' gradients.
struct UnitWants {
  bool x = true;
  bool residual = false;
};

// `error` is the gradient of the output; `other`, if defined, that of its second handle.
UnitGradients unit_gradients(const UnitState& state, const UnitTensors& saved,
                             const at::Tensor& error, const at::Tensor& other, UnitWants wants);

}  // namespace bitcycle
