#pragma once

// What flows between units that execute in integers: half-precision tensors, whose batch norm and
// activation may still be pending.
//
// Note [Pending activations]: a unit without a residual hands on its convolution's output y and the
// coefficients of x = activation(scale * y + shift). The next unit quantizes x straight from y, so
// x is never stored, and its codes can be made again in the backward pass instead of being kept.
// To autograd such a tensor stands for x: gradients that arrive at it are those of x.
//
// Note [Scaled gradients]: between units that run in half precision, gradients are kept multiplied
// by a factor, because those of a mean over a batch lie where halves have few bits left. The factor
// is a power of two, so it changes no digit; it is taken out where gradients leave. A model chooses
// one for its whole forward pass (gradient_scale of its batch), and tensors carry it along: no unit
// may guess it from a shape, since models reshape. Halves that come from outside carry 1.

#include "bitcycle/kernels/integer/passes.h"
#include "bitcycle/network/network.h"
#include "bitcycle/quant/torch.h"

#include <memory>
#include <optional>
#include <utility>
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

// The codes of a tensor as its first reader stored them for the backward pass. A second reader that
// quantizes it in the same way (a projection beside a block's first convolution) keeps them too.
struct StoredInput {
  integer::CodeParams params;
  at::Tensor codes;
};

struct UnitTensor {
  at::Tensor values;                           // x, or y where something is pending
  std::optional<Range> range;                  // of x, where it is known
  std::shared_ptr<const PendingNorm> pending;  // null: nothing
  std::shared_ptr<StoredInput> stored;         // shared by the readers of x; null: one reader
  float gradient_scale = 1.0f;                 // what its gradient is multiplied by
};

// x itself.
at::Tensor ready(const UnitTensor& x);

// x as the elementwise passes read it. `x` must outlive the result.
integer::ActivationSource activation_source(const at::Tensor& values, const PendingNorm* pending);

// A factor for Note [Scaled gradients]: 32 times the batch, rounded up to a power of two.
float gradient_scale(std::int64_t batch);

// From float to half and back; between the two, gradients are multiplied by `scale`.
at::Tensor enter_half(const at::Tensor& x, float scale);
at::Tensor leave_half(const at::Tensor& x, float scale);
// Two copies of a half tensor that share its memory, for two readers; their gradients are added in
// one pass, where LibTorch's own sum of halves is slow.
std::pair<at::Tensor, at::Tensor> fork_half(const at::Tensor& x);

// The largest of each window, and the mean over each picture, of a half tensor.
at::Tensor max_pool_half(const at::Tensor& x, int kernel, int stride, int pad);
at::Tensor mean_pool_half(const at::Tensor& x);

}  // namespace bitcycle
