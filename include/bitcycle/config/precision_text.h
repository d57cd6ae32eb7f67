#pragma once

// A recipe's precision in a few words, for tables and titles.

#include "bitcycle/config/recipe.h"

#include <string>

namespace bitcycle {

// "CR 3-8/8": forward over backward; weights and activations apart where they differ. "float"
// where nothing is quantized, "PFQ 3-4-6-8/6-6-8-8" for stages, "DFQ 4w cp 3" for gates.
std::string precision_text(const PrecisionRecipe& precision);

}  // namespace bitcycle
