#pragma once

// What the choices of gates come to in bits. Choices are shares of the samples by option, as a run
// logs them; nothing is rounded here.

#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/events/mean_of_choices.h"

#include <vector>

namespace bitcycle {

// Means over samples and blocks: a sample that skips a block has 0 bits for activations and errors
// there.
struct ChosenBits {
  MeanBits bits;
  double skipped = 0;  // share of the samples, mean over the blocks
};

using BlockShares = std::vector<std::vector<double>>;  // by block and option

// Of one block. Weights have their bits whatever is chosen.
ChosenBits chosen_bits(const DynamicRecipe& recipe, const std::vector<double>& shares);
// The mean over the blocks.
ChosenBits chosen_bits(const DynamicRecipe& recipe, const BlockShares& blocks);

// The bits of a step whose samples have chosen so. Those that skip a block pass its projection at
// the dearest option. In the form "all_candidates" every sample has all of them.
StepBits chosen_step(const DynamicPolicy& policy, const BlockShares& blocks);

// For sinks that log bits; empty where no gates choose.
MeanOfChoices mean_of_choices(const PrecisionRecipe& recipe);

// Whether these are shares of that recipe's options: a log may be another's.
bool fits(const BlockShares& blocks, const DynamicRecipe& recipe);

}  // namespace bitcycle
