#pragma once

// `bitcycle cost` of a recipe whose bits gates choose: what each option costs, what the choices are
// steered to, and what there is besides.

#include "bitcycle/config/recipe.h"

#include "cli/cost/cost_recipe.h"

namespace bitcycle::cli {

// Both for recipes with a dynamic part. The bounds are those of the choices.
Bounds gates_gbitops(const Recipe& recipe);
void print_gates_cost(const Recipe& recipe, const RecipeCostOptions& options);

}  // namespace bitcycle::cli
