#pragma once

#include "bitcycle/kernels/dropout.h"
#include "bitcycle/quant/torch.h"

namespace bitcycle {

// Dropout by counter (bitcycle/kernels/dropout.h); element i is the i-th in memory. Differentiable:
// the gradient passes the same mask, which is made again.
at::Tensor dropped_out(const at::Tensor& x, DropRate rate, NoiseKey key);

}  // namespace bitcycle
