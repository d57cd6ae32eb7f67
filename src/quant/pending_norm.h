#pragma once

// What travels with a UnitTensor besides its values, and what only units look into.

#include "bitcycle/kernels/integer/passes.h"
#include "bitcycle/network/network.h"
#include "bitcycle/quant/unit_tensor.h"

#include <memory>
#include <vector>

namespace bitcycle {

// Note [Sums on the way back]: a unit's backward pass starts with sums over the gradient of its
// output. The reader of a pending tensor makes that gradient image by image, with y in the cache,
// so it leaves the sums here. They hold for the very tensor that they were taken from: where
// autograd delivers another one (there were more readers), the unit takes its own.
struct ReturnedGradient {
  at::Tensor gradient;
  integer::GradientSums sums;
};

struct PendingNorm {
  std::vector<float> scale, shift;  // per channel
  Activation activation = Activation::none;
  std::vector<float> mean = {};  // of y
  std::shared_ptr<ReturnedGradient> returned = std::make_shared<ReturnedGradient>();
};

class MadeAgain;

// The codes of a tensor as its first reader stored them for the backward pass. A second reader that
// quantizes it in the same way (a projection beside a block's first convolution) keeps them too.
// Or how its values come back that are let go until then (Note [Made again]); null: they stay.
struct StoredInput {
  integer::CodeParams params;
  at::Tensor codes;
  std::shared_ptr<MadeAgain> again = {};
};
inline std::shared_ptr<MadeAgain> again_of(const UnitTensor& x) {
  return x.stored != nullptr ? x.stored->again : nullptr;
}

// x as the elementwise passes read it. `x` must outlive the result.
integer::ActivationSource activation_source(const at::Tensor& values, const PendingNorm* pending);

}  // namespace bitcycle
