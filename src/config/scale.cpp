#include "bitcycle/config/scale.h"

#include <algorithm>
#include <cmath>

namespace bitcycle {

Recipe scaled(Recipe recipe, double scale) {
  const auto shorten = [scale](std::int64_t& steps) {
    if (steps > 0) {
      steps = std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(steps)));
    }
  };
  shorten(recipe.steps);
  recipe.epochs *= scale;
  shorten(recipe.lr_schedule.warmup_steps);
  if (recipe.averaging) recipe.averaging->every_epochs *= scale;
  if (recipe.precision.progressive) shorten(recipe.precision.progressive->period);
  if (recipe.precision.dynamic) shorten(recipe.precision.dynamic->period);
  return recipe;
}

}  // namespace bitcycle
