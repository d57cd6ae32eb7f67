#pragma once

#include "bitcycle/quant/scheme.h"

namespace bitcycle {

// Range batch norm (Banner et al. 2018), whose measure of spread is the mean range of parts of a
// channel instead of its variance; equations in docs/numerics.md. The norm's running variance is
// the square of the running spread, so that what reads it as a batch norm finds one.
at::Tensor range_norm(const at::Tensor& x, const NormCall& call);

}  // namespace bitcycle
