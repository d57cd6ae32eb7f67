#pragma once

// `bitcycle cost` of a run whose gates chose, counted from the choices that it has logged.

#include "bitcycle/config/recipe.h"

#include "cli/cost/cost_recipe.h"
#include "cli/schedule/gated_bits.h"

namespace bitcycle::cli {

void print_gated_run_cost(const Recipe& recipe, const GatedBits& run,
                          const RecipeCostOptions& options);

}  // namespace bitcycle::cli
