#pragma once

// What a unit's forward pass leaves for its backward pass.

#include "bitcycle/quant/integer_unit.h"

#include "quant/pending_norm.h"

namespace bitcycle {

// Samples that are quantized alike.
struct SampleKind {
  std::vector<int> samples;  // empty: all
  integer::CodeParams input;
  int error_bits = 0;
};

// Note [Nested codes]: where each sample has bits of its own, its input is quantized to kMaxBits
// first, and from these codes to its own. They are what is kept or made again for the backward
// pass, which needs to know the input at the bits of every option.
struct UnitState : torch::CustomClassHolder {
  IntegerUnitCall call;
  integer::CodeParams input;                      // of the codes that are kept or made again
  std::vector<SampleKind> kinds;                  // of a call with a choice
  std::shared_ptr<const PendingNorm> pending;     // of the input
  std::shared_ptr<StoredInput> stored;            // likewise
  std::shared_ptr<const SampleRows> rows;         // likewise
  std::shared_ptr<MadeAgain> again;               // likewise
  std::shared_ptr<const SampleRows> joined_rows;  // of residual and output
  std::shared_ptr<ReturnedGradient> returned;     // where the output's reader leaves its gradient
  Kept kept = Kept::as_codes;                     // likewise
  integer::ChannelStats stats;                    // of y
  integer::BatchNorm norm;
  float gradient_scale = 1.0f;  // of input and output alike
  bool joined = false;          // whether a residual was added
  bool residual_stays = false;  // so that the output may be made again from it
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
  at::Tensor x, residual, weight, gamma, beta, mask;
};

// The gradients that arrive at a unit.
struct UnitErrors {
  at::Tensor output;  // of its output
  at::Tensor second;  // of its second handle; may be undefined
  at::Tensor means;   // of its output's channel means, [samples, channels]; may be undefined
};

// What the backward pass has to find besides the parameters' gradients.
struct UnitWants {
  bool x = true;
  bool residual = false;
};

UnitGradients unit_gradients(const UnitState& state, const UnitTensors& saved,
                             const UnitErrors& errors, UnitWants wants);

}  // namespace bitcycle
