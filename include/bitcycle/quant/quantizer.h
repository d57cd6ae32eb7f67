#pragma once

// The quantizers of the SBM scheme, and the noise of all schemes, on tensors of any LibTorch
// device. On the CPU they run as fused passes (bitcycle/kernels/quantize.h); elsewhere the same
// arithmetic is spelled in tensor operations and gives the same values. None of them is
// differentiable: the layers that use them define their own backward pass (straight-through).

#include "bitcycle/base/random.h"
#include "bitcycle/kernels/quantize.h"
#include "bitcycle/quant/torch.h"

namespace bitcycle {

// Smallest and largest value. Waits for the device.
Range tensor_range(const at::Tensor& x);

// Rounds to the grid of `bits` over `range`, nearest, ties to even.
at::Tensor quantize_tensor(const at::Tensor& x, Range range, int bits);

// Rounds stochastically over the tensor's own range. Element i of Note [Rounding noise] is the i-th
// in memory (NHWC order for pictures), so `x` must be dense.
at::Tensor quantize_error(const at::Tensor& x, int bits, NoiseKey key);

// Rounds every slice x[i] of the first dimension (an output channel) over its own range.
at::Tensor quantize_weight(const at::Tensor& x, int bits);

// noise(key, i) of Note [Rounding noise] at each place of `x`, element i the i-th in memory: what
// stochastic quantizers add. `x` must be dense.
at::Tensor noise_like(const at::Tensor& x, NoiseKey key);

// The same quantizers in tensor operations alone; what devices other than the CPU use.
namespace portable {
Range tensor_range(const at::Tensor& x);
at::Tensor quantize_tensor(const at::Tensor& x, Range range, int bits);
at::Tensor quantize_error(const at::Tensor& x, int bits, NoiseKey key);
at::Tensor quantize_weight(const at::Tensor& x, int bits);
at::Tensor noise_like(const at::Tensor& x, NoiseKey key);
}  // namespace portable

}  // namespace bitcycle
