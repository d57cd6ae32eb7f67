#pragma once

// Which weights of a run stochastic weight averaging takes (Izmailov et al. 2018; the code of CPT's
// authors has it): those behind every so many steps from a certain one on, and the last. Steps
// count those done.

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/config/recipe.h"

namespace bitcycle {

// The step from which they count.
Step first_averaged(const AveragingRecipe& recipe, const RunLength& length);
bool is_averaged(const AveragingRecipe& recipe, Step step, const RunLength& length);
// How many these are in the whole run.
Step averaged_points(const AveragingRecipe& recipe, const RunLength& length);

}  // namespace bitcycle
