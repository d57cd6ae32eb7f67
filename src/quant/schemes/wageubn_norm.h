#pragma once

#include "bitcycle/quant/scheme.h"

namespace bitcycle {

// WAGEUBN's batch norm: mean and deviation at 16 bits, the normalised input, gamma and beta at 8;
// equations in docs/numerics.md.
at::Tensor wageubn_norm(const at::Tensor& x, const NormCall& call);

}  // namespace bitcycle
