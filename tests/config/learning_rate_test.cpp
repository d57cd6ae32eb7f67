#include "bitcycle/config/learning_rate.h"

#include "golden/csv.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using Name = LearningRateRecipe::Name;

TEST(LearningRateTest, PiecewiseDropsAtItsFractionsAsCptDoes) {
  const LearningRateRecipe recipe;  // x0.1 at a half and three quarters
  EXPECT_DOUBLE_EQ(learning_rate(0.1, recipe, 0, 64000), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(0.1, recipe, 31999, 64000), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(0.1, recipe, 32000, 64000), 0.01);
  EXPECT_DOUBLE_EQ(learning_rate(0.1, recipe, 47999, 64000), 0.01);
  EXPECT_DOUBLE_EQ(learning_rate(0.1, recipe, 48000, 64000), 0.001);
}

TEST(LearningRateTest, PiecewiseFractionsLandOnWholeSteps) {
  const LearningRateRecipe recipe{.at = {0.1}};
  EXPECT_DOUBLE_EQ(learning_rate(1, recipe, 2, 30), 1);
  EXPECT_DOUBLE_EQ(learning_rate(1, recipe, 3, 30), 0.1);
}

// Table 1 of the CPT paper: 0.06, then 0.01, then 0.001.
TEST(LearningRateTest, PiecewiseTakesRatesAsTheyAreStated) {
  const LearningRateRecipe recipe{.rates = {0.01, 0.001}};
  EXPECT_EQ(learning_rate(0.06, recipe, 31999, 64000), 0.06);
  EXPECT_EQ(learning_rate(0.06, recipe, 32000, 64000), 0.01);
  EXPECT_EQ(learning_rate(0.06, recipe, 47999, 64000), 0.01);
  EXPECT_EQ(learning_rate(0.06, recipe, 63999, 64000), 0.001);
}

TEST(LearningRateTest, LinearStaysThenFallsThenStays) {
  const LearningRateRecipe recipe{.name = Name::linear};
  EXPECT_DOUBLE_EQ(learning_rate(1, recipe, 499, 1000), 1);
  EXPECT_DOUBLE_EQ(learning_rate(1, recipe, 700, 1000), 1 - 0.99 * 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(1, recipe, 950, 1000), 0.01);
}

TEST(LearningRateTest, CosineRunsFromTheBaseToTheFinalRate) {
  const LearningRateRecipe recipe{.name = Name::cosine};
  EXPECT_DOUBLE_EQ(learning_rate(2, recipe, 0, 100), 2);
  EXPECT_DOUBLE_EQ(learning_rate(2, recipe, 50, 100), 2 * (0.01 + 0.99 * 0.5));
  EXPECT_NEAR(learning_rate(2, recipe, 100, 100), 0.02, 1e-12);
}

TEST(LearningRateTest, SgdrRestartsAndItsCyclesGrow) {
  // 160 epochs, first cycle 10, each twice the one before: restarts at 10, 30, 70, 150.
  const LearningRateRecipe recipe{.name = Name::sgdr, .first_period = 10.0 / 160};
  for (Step restart : {0, 10, 30, 70, 150}) {
    EXPECT_DOUBLE_EQ(learning_rate(0.05, recipe, restart, 160), 0.05) << restart;
  }
  EXPECT_NEAR(learning_rate(0.05, recipe, 5, 160), 0.025, 1e-12);
  EXPECT_NEAR(learning_rate(0.05, recipe, 20, 160), 0.025, 1e-12);
  EXPECT_LT(learning_rate(0.05, recipe, 149, 160), 0.001);
}

TEST(LearningRateTest, WarmupIsConstantOrLinear) {
  LearningRateRecipe recipe{.name = Name::constant, .warmup_steps = 400};
  EXPECT_DOUBLE_EQ(learning_rate(0.1, recipe, 399, 64000), 0.01);
  EXPECT_DOUBLE_EQ(learning_rate(0.1, recipe, 400, 64000), 0.1);
  recipe.warmup = LearningRateRecipe::Warmup::linear;
  EXPECT_DOUBLE_EQ(learning_rate(0.1, recipe, 0, 64000), 0.01);
  EXPECT_DOUBLE_EQ(learning_rate(0.1, recipe, 200, 64000), 0.055);
}

// 25 of 500 steps, whatever the shape counts from its warm-up.
TEST(LearningRateTest, AFractionOfTheRunWarmsUpLikeItsSteps) {
  for (const Name name : {Name::cosine, Name::inverse_sqrt, Name::linear_to_zero}) {
    LearningRateRecipe steps{.name = name, .warmup = LearningRateRecipe::Warmup::linear};
    steps.origin = LearningRateRecipe::Origin::warmup;
    LearningRateRecipe fraction = steps;
    steps.warmup_steps = 25;
    fraction.warmup_fraction = 0.05;
    EXPECT_EQ(warmup_length(fraction, 500), 25);
    for (Step step = 0; step < 500; ++step) {
      EXPECT_EQ(learning_rate(0.1, fraction, step, 500), learning_rate(0.1, steps, step, 500));
    }
  }
}

void expect_golden_rates(const std::string& file, const std::string& column, double base,
                         const LearningRateRecipe& recipe, Step total) {
  for (const CsvRow& row : golden_rows("optim/" + file)) {
    const bool has_steps = row.count("steps_done") > 0;
    const Step step = std::stoll(row.at(has_steps ? "steps_done" : "updates_done"));
    SCOPED_TRACE(file + " " + column + " " + std::to_string(step));
    expect_golden(learning_rate(base, recipe, step, total), number(row, column));
  }
}

TEST(LearningRateTest, InverseSquareRootIsFairseqs) {
  LearningRateRecipe recipe{.name = Name::inverse_sqrt,
                            .warmup_steps = 10,
                            .warmup_factor = 1e-7 / 5e-4,
                            .warmup = LearningRateRecipe::Warmup::linear};
  expect_golden_rates("inverse_sqrt.csv", "lr", 5e-4, recipe, 1000);
  recipe.warmup_factor = 0;
  for (const auto origin :
       {LearningRateRecipe::Origin::start, LearningRateRecipe::Origin::warmup}) {
    recipe.origin = origin;
    expect_golden_rates("inverse_sqrt_from_zero.csv", "lr", 5e-4, recipe, 1000);
  }
}

TEST(LearningRateTest, InverseSquareRootWithoutWarmupFallsFromTheFirstStep) {
  const LearningRateRecipe recipe{.name = Name::inverse_sqrt};
  EXPECT_DOUBLE_EQ(learning_rate(0.5, recipe, 0, 100), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(0.5, recipe, 4, 100), 0.25);
}

TEST(LearningRateTest, LinearToZeroIsHuggingFacesAfterTheWarmupAndGooglesFromTheStart) {
  LearningRateRecipe recipe{.name = Name::linear_to_zero};
  expect_golden_rates("linear_warmup.csv", "linear_no_warmup", 2e-5, recipe, 40);
  recipe.warmup_steps = 5;
  recipe.warmup_factor = 0;
  recipe.warmup = LearningRateRecipe::Warmup::linear;
  expect_golden_rates("linear_warmup.csv", "google_bert", 2e-5, recipe, 40);
  recipe.origin = LearningRateRecipe::Origin::warmup;
  expect_golden_rates("linear_warmup.csv", "linear_warmup", 2e-5, recipe, 40);
}

TEST(LearningRateTest, CosineMayBeginWhereTheWarmupEnds) {
  const LearningRateRecipe recipe{.name = Name::cosine,
                                  .final = 0,
                                  .origin = LearningRateRecipe::Origin::warmup,
                                  .warmup_steps = 20,
                                  .warmup_factor = 0,
                                  .warmup = LearningRateRecipe::Warmup::linear};
  EXPECT_DOUBLE_EQ(learning_rate(2, recipe, 10, 100), 1);
  EXPECT_DOUBLE_EQ(learning_rate(2, recipe, 20, 100), 2);
  EXPECT_DOUBLE_EQ(learning_rate(2, recipe, 40, 100), 1 + std::numbers::sqrt2 / 2);
  EXPECT_DOUBLE_EQ(learning_rate(2, recipe, 60, 100), 1);
  EXPECT_NEAR(learning_rate(2, recipe, 100, 100), 0, 1e-15);
}

// fairseq's cosine in its closed form: the cycle is found by a logarithm, and both ends of the rate
// shrink from cycle to cycle.
double fairseq_cosine(double updates, double period, double t_mult, double shrink, double min_rate,
                      double max_rate) {
  const double i =
      std::floor(std::log(1 - updates / period * (1 - t_mult)) / std::log(t_mult) + 1e-12);
  const double length = std::pow(t_mult, i) * period;
  const double done = updates - (1 - std::pow(t_mult, i)) / (1 - t_mult) * period;
  const double low = min_rate * std::pow(shrink, i), high = max_rate * std::pow(shrink, i);
  return low + 0.5 * (high - low) * (1 + std::cos(std::numbers::pi * done / length));
}

// Baevski and Auli's: 16,000 steps of warm-up from 1e-7 to 1, then cycles that double in length and
// shrink to three quarters; here the first takes an eighth of the rest.
TEST(LearningRateTest, SgdrWithShrinkAndFloorIsFairseqsCosine) {
  constexpr Step kWarmup = 16000, kTotal = 286000;
  constexpr double kPeriod = (kTotal - kWarmup) / 8.0;
  const LearningRateRecipe recipe{.name = Name::sgdr,
                                  .first_period = 0.125,
                                  .period_factor = 2,
                                  .shrink = 0.75,
                                  .floor = 1e-4,
                                  .origin = LearningRateRecipe::Origin::warmup,
                                  .warmup_steps = kWarmup,
                                  .warmup_factor = 1e-7,
                                  .warmup = LearningRateRecipe::Warmup::linear};
  expect_golden(learning_rate(1, recipe, 0, kTotal), 1e-7);
  expect_golden(learning_rate(1, recipe, 4000, kTotal), 1e-7 + (1 - 1e-7) / 4);
  for (Step step = kWarmup; step < kTotal; step += 50) {
    const double expected =
        fairseq_cosine(static_cast<double>(step - kWarmup), kPeriod, 2, 0.75, 1e-4, 1);
    ASSERT_NEAR(learning_rate(1, recipe, step, kTotal), expected, 1e-12) << step;
  }
  EXPECT_DOUBLE_EQ(learning_rate(1, recipe, kWarmup + 33750, kTotal), 0.75);
  EXPECT_DOUBLE_EQ(learning_rate(1, recipe, kWarmup + 3 * 33750, kTotal), 0.75 * 0.75);
}

TEST(LearningRateTest, PlateauLeavesTheRateToItsState) {
  const LearningRateRecipe recipe{.name = Name::plateau, .warmup_steps = 2};
  EXPECT_DOUBLE_EQ(learning_rate(20, recipe, 1, 100), 2);
  EXPECT_DOUBLE_EQ(learning_rate(20, recipe, 2, 100), 20);
  EXPECT_DOUBLE_EQ(learning_rate(20, recipe, 99, 100), 20);
}

}  // namespace
}  // namespace bitcycle
