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

// The scheme of a name other than automatic.
const Scheme& scheme_of(SchemeName name);

}  // namespace bitcycle
