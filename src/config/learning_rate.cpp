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
std::ptrdiff_t drops(const LearningRateRecipe& recipe, Step step, Step total) {
  const auto reached = [&](double fraction) {
    return step >= std::llround(fraction * static_cast<double>(total));
  };
  return std::count_if(recipe.at.begin(), recipe.at.end(), reached);
}

double linear(double final, double f) {
  if (f < 0.5) return 1.0;
  if (f > 0.9) return final;
  return 1.0 + (final - 1.0) * (f - 0.5) / 0.4;
}

double sgdr(const LearningRateRecipe& recipe, double f) {
  double begin = 0.0, period = recipe.first_period, height = 1.0;
  while (f >= begin + period) {
    begin += period;
    period *= recipe.period_factor;
    height *= recipe.shrink;
  }
  return height * (recipe.floor + (1.0 - recipe.floor) * half_cosine((f - begin) / period));
}

// Without a warm-up it falls from the first step on.
double inverse_sqrt(Step warmup_steps, Step step) {
  const auto at_least_one = [](Step n) { return static_cast<double>(std::max<Step>(1, n)); };
  return std::sqrt(at_least_one(warmup_steps)) / std::sqrt(at_least_one(step));
}

double warmup(const LearningRateRecipe& recipe, Step step, Step warmup_steps) {
  if (recipe.warmup == LearningRateRecipe::Warmup::constant) return recipe.warmup_factor;
  const double done = static_cast<double>(step) / static_cast<double>(warmup_steps);
  return recipe.warmup_factor + (1.0 - recipe.warmup_factor) * done;
}

// The inverse square root counts the steps of its warm-up in any case.
Step origin_of(const LearningRateRecipe& recipe, Step warmup_steps) {
  const bool behind_warmup = recipe.origin == LearningRateRecipe::Origin::warmup &&
                             recipe.name != LearningRateRecipe::Name::inverse_sqrt;
  return behind_warmup ? warmup_steps : 0;
}

// What the base rate is multiplied by at `step` of `total`, both counted from the shape's origin.
double shape(const LearningRateRecipe& recipe, Step step, Step total, Step warmup_steps) {
  using Name = LearningRateRecipe::Name;
  const double f = static_cast<double>(step) / static_cast<double>(std::max<Step>(1, total));
  switch (recipe.name) {
    case Name::constant:
    case Name::plateau:
      return 1.0;
    case Name::piecewise:
      return std::pow(recipe.factor, static_cast<double>(drops(recipe, step, total)));
    case Name::linear:
      return linear(recipe.final, f);
    case Name::cosine:
      return recipe.final + (1.0 - recipe.final) * half_cosine(f);
    case Name::sgdr:
      return sgdr(recipe, f);
    case Name::linear_to_zero:
      return std::max(0.0, 1.0 - f);
    case Name::inverse_sqrt:
      return inverse_sqrt(warmup_steps, step);
  }
  return 1.0;
}

double stated_rate(double base, const std::vector<double>& rates, std::ptrdiff_t drops) {
  return drops == 0 ? base : rates[static_cast<std::size_t>(drops - 1)];
}

}  // namespace

Step warmup_length(const LearningRateRecipe& recipe, Step total) {
  if (recipe.warmup_fraction == 0) return recipe.warmup_steps;
  return std::llround(recipe.warmup_fraction * static_cast<double>(total));
}

double learning_rate(double base, const LearningRateRecipe& recipe, Step step, Step total) {
  const Step rising = warmup_length(recipe, total);
  if (step < rising) return base * warmup(recipe, step, rising);
  const Step origin = origin_of(recipe, rising), done = step - origin, length = total - origin;
  const bool stated = recipe.name == LearningRateRecipe::Name::piecewise && !recipe.rates.empty();
  if (stated) return stated_rate(base, recipe.rates, drops(recipe, done, length));
  return base * shape(recipe, done, length, rising);
}

}  // namespace bitcycle
