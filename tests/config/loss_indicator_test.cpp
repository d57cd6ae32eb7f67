// The vectors are of an independent implementation of the authors' indicator in double precision.

#include "bitcycle/config/loss_indicator.h"

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

struct Switch {
  int period;
  double difference, threshold;
};

struct Outcome {
  std::vector<Switch> switches;
  double scale;
};

Outcome follow(LossIndicator indicator, const std::function<double(int)>& loss, int periods = 160) {
  Outcome outcome;
  for (int t = 1; t <= periods; ++t) {
    const auto point = indicator.observe(loss(t));
    if (point) outcome.switches.push_back({t, point->difference.value(), point->threshold});
  }
  outcome.scale = indicator.scale();
  return outcome;
}

void expect_switches(const std::vector<Switch>& found, const std::vector<Switch>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].period, expected[i].period);
    EXPECT_NEAR(found[i].difference, expected[i].difference, 5e-7);
    EXPECT_NEAR(found[i].threshold, expected[i].threshold, 1e-15);
  }
}

double falling(int t) {
  return 0.30 + 1.70 * std::exp(-t / 8.0);
}

// A learning rate that drops after period 80.
double falling_twice(int t) {
  return t <= 80 ? 0.5 + 1.5 * std::exp(-t / 10.0) : 0.2 + 0.3 * std::exp(-(t - 80) / 3.0);
}

TEST(LossIndicatorTest, FindsThePlateausOfAFallingLoss) {
  const Outcome found = follow(LossIndicator({.epsilon = 0.05, .alpha = 0.3}), falling);
  EXPECT_NEAR(found.scale, 1.210969536, 5e-10);
  expect_switches(found.switches,
                  {{24, 0.045341, 0.05}, {33, 0.014720, 0.015}, {43, 0.004217, 0.0045}});
}

TEST(LossIndicatorTest, FindsThemEarlierWithTheThresholdsOfTheReleasedScripts) {
  const Outcome found = follow(LossIndicator({.epsilon = 0.15, .alpha = 0.4}), falling);
  expect_switches(found.switches,
                  {{15, 0.139660, 0.15}, {22, 0.058219, 0.06}, {30, 0.021418, 0.024}});
}

TEST(LossIndicatorTest, RestsAfterTheLastTurningPoint) {
  const Outcome found = follow(LossIndicator({.epsilon = 0.05, .alpha = 0.3}), falling_twice);
  EXPECT_NEAR(found.scale, 1.401561815, 5e-10);
  expect_switches(found.switches,
                  {{24, 0.047751, 0.05}, {36, 0.014382, 0.015}, {48, 0.004332, 0.0045}});
}

TEST(LossIndicatorTest, AStageLastsAtLeastAWindow) {
  const Outcome found = follow(
      LossIndicator({.epsilon = 0.05, .alpha = 0.3}), [](int t) { return t <= 5 ? 2.0 : 1.0; }, 20);
  EXPECT_DOUBLE_EQ(found.scale, 1.5);
  expect_switches(found.switches, {{5, 0, 0.05}, {10, 0, 0.015}, {15, 0, 0.0045}});
}

TEST(LossIndicatorTest, EqualityCountsAsSettledAndARisingLossDoesNot) {
  const auto rise = [](double by) { return [by](int t) { return t == 3 ? 1.0 + by : 1.0; }; };
  const LossIndicator indicator({.epsilon = 0.25, .window = 3, .normalising = 1});
  EXPECT_EQ(follow(indicator, rise(0.25), 3).switches.size(), 1U);
  EXPECT_TRUE(follow(indicator, rise(0.375), 3).switches.empty());
}

// The newest is two steps of 0.2 away from the oldest, though each step is below the threshold.
TEST(LossIndicatorTest, ComparesWithTheWholeWindowNotWithTheLastPeriodAlone) {
  const LossIndicator indicator({.epsilon = 0.3, .window = 3, .normalising = 0});
  EXPECT_TRUE(follow(
                  indicator, [](int t) { return 5 - 0.2 * t; }, 100)
                  .switches.empty());
}

TEST(LossIndicatorTest, TheThresholdDecaysTwice) {
  const LossIndicator indicator({.epsilon = 0.5, .alpha = 0.5, .window = 2, .turning_points = 4});
  const Outcome found = follow(
      indicator, [](int) { return 1.0; }, 20);
  expect_switches(found.switches, {{2, 0, 0.5}, {4, 0, 0.25}, {6, 0, 0.125}, {8, 0, 0.125}});
}

TEST(LossIndicatorTest, ATurnByForceBeginsAWindowAndKeepsTheScale) {
  LossIndicator indicator({.epsilon = 0.5, .alpha = 0.5, .window = 2, .normalising = 4});
  indicator.observe(8);
  EXPECT_EQ(indicator.turn().difference, std::nullopt);
  EXPECT_EQ(indicator.stage(), 1);
  EXPECT_EQ(indicator.threshold(), 0.25);
  EXPECT_EQ(indicator.scale(), 8);
  EXPECT_EQ(indicator.observe(4), std::nullopt);  // the 8 before is no longer in the window
  EXPECT_EQ(indicator.observe(2), std::nullopt);  // 2 away, scale 14 / 3
  EXPECT_DOUBLE_EQ(indicator.turn().difference.value(), 3.0 / 7);
}

TEST(LossIndicatorTest, GoesOnFromItsStateAtEveryPeriod) {
  const LossIndicatorOptions options{.epsilon = 0.05, .alpha = 0.3};
  LossIndicator whole(options);
  LossIndicatorState carried;
  for (int t = 1; t <= 60; ++t) {
    LossIndicator resumed(options, carried);
    const auto expected = whole.observe(falling(t)), found = resumed.observe(falling(t));
    ASSERT_EQ(found.has_value(), expected.has_value()) << t;
    carried = resumed.state();
    ASSERT_EQ(carried, whole.state()) << t;
  }
  EXPECT_TRUE(whole.rests());
}

}  // namespace
}  // namespace bitcycle
