#pragma once

#include "bitcycle/quant/torch.h"

namespace bitcycle {

// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last dimension, as LibTorch's, but
// for gradients of weight and bias that do not depend on the number of threads.
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      double epsilon);

}  // namespace bitcycle
