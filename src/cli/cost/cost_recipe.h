#pragma once

// `bitcycle cost` of a recipe, which says what a run of it will cost as far as that is known.

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/cost/cost_model.h"

#include "cli/cost/cost_subject.h"
#include "cli/cost/step_cost.h"

#include <optional>
#include <string>
#include <vector>

namespace bitcycle::cli {

struct RecipeCostOptions {
  std::string path;                   // of the recipe, or of the run's directory
  std::vector<std::string> settings;  // laid over the recipe
  Step steps = 0;                     // of a run whose recipe gives its length in epochs
  Counting counting = Counting::paper;
  bool json = false;
  // What is known once the data have been opened; else the usual.
  std::optional<CostSubject> subject;
  std::optional<RunLength> length;
  std::vector<double> step_work;  // samples or tokens of each step; empty: those of full batches
};

// What a run of a recipe costs, by the rule "paper"; nothing where its length is given in epochs,
// whose steps the data alone know.
std::optional<Bounds> recipe_gbitops(const Recipe& recipe);

void print_recipe_cost(const RecipeCostOptions& options);
void print_recipe_cost(const Recipe& recipe, const RecipeCostOptions& options);

}  // namespace bitcycle::cli
