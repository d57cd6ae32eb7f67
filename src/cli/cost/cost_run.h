#pragma once

// `bitcycle cost` of a run, whose log says what it has cost.

#include "cli/cost/cost_recipe.h"

namespace bitcycle::cli {

// Of the options `path`, `counting` and `json` count.
void print_run_cost(const RecipeCostOptions& options);

}  // namespace bitcycle::cli
