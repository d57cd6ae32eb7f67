#pragma once

// Batch norm, residual and activation as one differentiable step. On the CPU in float it runs as
// the fused passes of bitcycle/kernels/batch_norm.h, whose result does not depend on the number of
// threads; elsewhere as LibTorch operations.

#include "bitcycle/network/network.h"
#include "bitcycle/quant/torch.h"

namespace bitcycle {

// activation(norm(x) + residual); `residual` may be undefined. In training, norm's running
// statistics move.
at::Tensor norm_activate(torch::nn::BatchNorm2dImpl& norm, const at::Tensor& x,
                         const at::Tensor& residual, Activation activation);

}  // namespace bitcycle
