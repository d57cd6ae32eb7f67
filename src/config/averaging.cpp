#include "bitcycle/config/averaging.h"

#include "config/epoch_interval.h"

namespace bitcycle {

// The weights that a run starts from are not averaged.
Step first_averaged(const AveragingRecipe& recipe, const RunLength& length) {
  return std::max<Step>(1, std::llround(recipe.start * static_cast<double>(length.steps)));
}

bool is_averaged(const AveragingRecipe& recipe, Step step, const RunLength& length) {
  return step >= first_averaged(recipe, length) && is_due(recipe.every_epochs, step, length);
}

Step averaged_points(const AveragingRecipe& recipe, const RunLength& length) {
  const Step every = epoch_interval(recipe.every_epochs, length.steps_per_epoch);
  if (every == 0) return 1;
  const Step before = (first_averaged(recipe, length) - 1) / every;
  const bool last_is_extra = length.steps % every != 0;
  return length.steps / every - before + (last_is_extra ? 1 : 0);
}

}  // namespace bitcycle
