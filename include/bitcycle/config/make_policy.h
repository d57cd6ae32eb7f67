#pragma once

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/config/recipe.h"

#include <memory>

namespace bitcycle {

// The policy that a recipe's [precision] asks for. Throws Error(recipe) when it does not fit the
// layers.
std::unique_ptr<PrecisionPolicy> make_policy(const PrecisionRecipe& recipe,
                                             std::vector<LayerInfo> layers, RunLength length);

}  // namespace bitcycle
