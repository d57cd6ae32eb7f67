#pragma once

#include "bitcycle/quant/torch.h"

namespace bitcycle {

// `quantized`, whose gradient is handed to x as it is: what quantizers within a differentiable
// function (Scheme::norm, Scheme::rectify) are made of.
at::Tensor straight_through(const at::Tensor& x, const at::Tensor& quantized);

}  // namespace bitcycle
