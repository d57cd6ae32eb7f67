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
//
// Note [Samples in place]: a block that some samples skip works on the others where they are. A
// tensor with `rows` has the shape of these samples, so that autograd sees shapes that fit, and the
// memory of the whole batch, in which sample i is number rows[i]. Who looks into its memory goes by
// its rows; ready() copies.

#include "bitcycle/kernels/range.h"
#include "bitcycle/quant/torch.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace bitcycle {

struct PendingNorm;  // scale, shift and activation, see Note [Pending activations]
struct StoredInput;  // the codes of a tensor as its first reader stored them

// Some samples of a batch, in ascending order.
struct SampleRows {
  std::vector<int> rows;
  std::int64_t batch;
};

// What the backward pass finds the codes of a tensor's values in: codes that its reader stores, or
// the values, where somebody else keeps them anyway.
enum class Kept { as_codes, as_values };

struct UnitTensor {
  at::Tensor values;                            // x, or y where something is pending
  std::optional<Range> range;                   // of x, where it is known
  std::shared_ptr<const PendingNorm> pending;   // null: nothing
  std::shared_ptr<StoredInput> stored;          // shared by the readers of x; null: one reader
  float gradient_scale = 1.0f;                  // what its gradient is multiplied by
  std::shared_ptr<const SampleRows> rows = {};  // Note [Samples in place]; null: values has all
  Kept kept = Kept::as_codes;
  std::vector<Range> sample_ranges = {};  // of each sample, where they are known
};

// x itself.
at::Tensor ready(const UnitTensor& x);
// The same without a copy of samples that are in place.
UnitTensor applied(UnitTensor x);

// How a unit hands on its output: a second handle is for a second reader, whose gradient the unit
// then adds in a pass that it makes anyway.
enum class Delivery { pending, ready, ready_twice };

// Whether a unit also gives the mean of each channel of its output, which then is ready.
enum class ChannelMeans { unwanted, wanted };

struct IntegerUnitOutput {
  UnitTensor output;
  at::Tensor second;  // Delivery::ready_twice
  at::Tensor means;   // [samples, channels] in float, where they are wanted
};

// A factor for Note [Scaled gradients]: 32 times the batch, rounded up to a power of two.
float gradient_scale(std::int64_t batch);

// From float to half and back; between the two, gradients are multiplied by `scale`.
at::Tensor enter_half(const at::Tensor& x, float scale);
at::Tensor leave_half(const at::Tensor& x, float scale);
// Two copies of a half tensor that share its memory, for two readers; their gradients are added in
// one pass, where LibTorch's own sum of halves is slow.
std::pair<at::Tensor, at::Tensor> fork_half(const at::Tensor& x);

// A half tensor, and the mean of each of its channels, [samples, channels] in float. The gradient
// of the means is added to the other's in place, so the first of the two must have one reader
// alone.
std::pair<at::Tensor, at::Tensor> with_channel_means(const at::Tensor& x, float scale);

// The largest of each window of a half tensor, and the mean over each picture of a half or float
// one. LibTorch's own mean keeps its input for the backward pass.
at::Tensor max_pool_half(const at::Tensor& x, int kernel, int stride, int pad);
at::Tensor mean_pool(const at::Tensor& x);

}  // namespace bitcycle
