#pragma once

// The learning rate of a step, as a recipe states it: a pure function, so resuming is free.

#include "bitcycle/config/recipe.h"

namespace bitcycle {

// The steps of a run's warm-up.
Step warmup_length(const LearningRateRecipe& recipe, Step total);

// With f = step / total and r the recipe's base rate:
//   constant        r
//   piecewise       r * factor^k, k the number of fractions in `at` that f has reached; or rates[k]
//                   (counted from 1) where the recipe has rates
//   linear          r until f = 0.5, then straight down to final * r at f = 0.9, then final * r
//   cosine          from r at f = 0 to final * r at f = 1, half a cosine
//   sgdr            h r (floor + (1 - floor) 0.5 (1 + cos(pi u))), u the position within the cycle;
//                   the first cycle takes first_period of the run, each later one period_factor
//                   times the one before, and h = shrink^k after k of them
//   linear_to_zero  r (1 - f)
//   inverse_sqrt    r sqrt(w / step), w the steps of the warm-up
//   plateau         r; a PlateauState says what to multiply it by
// During the warm-up the rate is r * warmup_factor, or rises linearly from there to r.
// With origin = warmup the steps of f are counted from there on: f = (step - w) / (total - w).
double learning_rate(double base, const LearningRateRecipe& recipe, Step step, Step total);

}  // namespace bitcycle
