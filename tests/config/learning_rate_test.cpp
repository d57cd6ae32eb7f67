#include "bitcycle/config/learning_rate.h"

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

}  // namespace
}  // namespace bitcycle
