#pragma once

// The schemes that recipes know by name, one file each in src/quant/schemes.

#include "bitcycle/config/recipe.h"
#include "bitcycle/quant/scheme.h"

namespace bitcycle {

// The papers': uniform grids between the smallest and the largest value, weights per output row,
// errors rounded stochastically, gradients straight through (docs/numerics.md).
const Scheme& sbm_scheme();
// What the integer kernels execute (Note [Integer scheme] in docs/numerics.md).
const Scheme& integer_scheme();
// DoReFa (Zhou et al. 2016): weights by tanh, activations clipped to 0..1 (in place of ReLU),
// errors over a range per sample.
const Scheme& dorefa_scheme();
// SBM as its authors have it (Banner et al. 2018): activations over the mean of the samples'
// extremes, a copy of the error at 16 bits for the weight gradient, range batch norm.
const Scheme& sbm_banner_scheme();
// WAGEUBN (Yang et al. 2020): steps and ranges that are powers of two. Lite: of a layer's tensors
// alone. Full: of batch norm, momentum and update too.
const Scheme& wageubn_lite_scheme();
const Scheme& wageubn_full_scheme();

// The scheme of a name other than automatic.
const Scheme& scheme_of(SchemeName name);

}  // namespace bitcycle
