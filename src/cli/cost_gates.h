#pragma once

// `bitcycle cost` of a recipe whose bits gates choose: what each option costs, what the choices are
// steered to, and what there is besides.

#include "bitcycle/config/recipe.h"

#include "cli/cost_recipe.h"

namespace bitcycle::cli {

// The recipe has a dynamic part.
void print_gates_cost(const Recipe& recipe, const RecipeCostOptions& options);

}  // namespace bitcycle::cli
