#pragma once

// How one parameter moves, by the optimizer's name. A new optimizer is a function here, a line in
// the table, and its name in the recipe.

#include "bitcycle/train/optimizer.h"

namespace bitcycle {

// What all parameters of a step have in common.
struct UpdateStep {
  const OptimizerRecipe& recipe;
  double lr;
  double count;  // of updates, this one included: t in the papers
};

struct UpdateRule {
  using Apply = void (*)(OptimizerSlot& slot, const UpdateStep& step);

  Apply apply;
  const char* first;   // what the state of a slot is called
  const char* second;  // null: there is none
};

// The parts of SGD: g += d p, and v = u v + g.
void add_l2_penalty(OptimizerSlot& slot);
void update_momentum(OptimizerSlot& slot, double momentum);

const UpdateRule& update_rule(OptimizerRecipe::Name name);

}  // namespace bitcycle
