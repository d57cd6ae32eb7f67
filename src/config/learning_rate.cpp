#include "bitcycle/config/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bitcycle {
namespace {

double half_cosine(double u) {
  return 0.5 * (1.0 + std::cos(std::numbers::pi * u));
}

// Steps are compared, not fractions, so that 0.1 of 30 steps is step 3 and not step 4.
double piecewise(const LearningRateRecipe& recipe, Step step, Step total) {
  const auto reached = [&](double fraction) {
    return step >= std::llround(fraction * static_cast<double>(total));
  };
  const auto drops = std::count_if(recipe.at.begin(), recipe.at.end(), reached);
  return std::pow(recipe.factor, static_cast<double>(drops));
}

double linear(double final, double f) {
  if (f < 0.5) return 1.0;
  if (f > 0.9) return final;
  return 1.0 + (final - 1.0) * (f - 0.5) / 0.4;
}

double sgdr(const LearningRateRecipe& recipe, double f) {
  double begin = 0.0, period = recipe.first_period;
  while (f >= begin + period) {
    begin += period;
    period *= recipe.period_factor;
  }
  return half_cosine((f - begin) / period);
}

double warmup(const LearningRateRecipe& recipe, Step step) {
  if (recipe.warmup == LearningRateRecipe::Warmup::constant) return recipe.warmup_factor;
  const double done = static_cast<double>(step) / static_cast<double>(recipe.warmup_steps);
  return recipe.warmup_factor + (1.0 - recipe.warmup_factor) * done;
}

}  // namespace

double learning_rate(double base, const LearningRateRecipe& recipe, Step step, Step total) {
  using Name = LearningRateRecipe::Name;
  if (step < recipe.warmup_steps) return base * warmup(recipe, step);
  const double f = static_cast<double>(step) / static_cast<double>(std::max<Step>(1, total));
  switch (recipe.name) {
    case Name::constant:
      return base;
    case Name::piecewise:
      return base * piecewise(recipe, step, total);
    case Name::linear:
      return base * linear(recipe.final, f);
    case Name::cosine:
      return base * (recipe.final + (1.0 - recipe.final) * half_cosine(f));
    case Name::sgdr:
      return base * sgdr(recipe, f);
  }
  return base;
}

}  // namespace bitcycle
