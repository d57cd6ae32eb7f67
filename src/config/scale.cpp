#include "bitcycle/config/scale.h"

#include <algorithm>
#include <cmath>

namespace bitcycle {
namespace {

constexpr double kOftenest = 0.001;  // epochs, of what recipes may say

}  // namespace

Recipe scaled(Recipe recipe, double scale) {
  const auto shorten = [scale](std::int64_t& steps) {
    if (steps > 0) {
      steps = std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(steps)));
    }
  };
  const auto come_oftener = [scale](double& every_epochs) {
    every_epochs = std::max(kOftenest, scale * every_epochs);
  };
  shorten(recipe.steps);
  recipe.epochs *= scale;
  shorten(recipe.lr_schedule.warmup_steps);
  if (recipe.averaging) come_oftener(recipe.averaging->every_epochs);
  if (recipe.lr_schedule.name == LearningRateRecipe::Name::plateau) {
    come_oftener(recipe.evaluation.every_epochs);
  }
  if (recipe.precision.progressive) shorten(recipe.precision.progressive->period);
  if (recipe.precision.dynamic) shorten(recipe.precision.dynamic->period);
  return recipe;
}

}  // namespace bitcycle
