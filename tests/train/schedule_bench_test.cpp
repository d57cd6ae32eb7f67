#include "bitcycle/train/schedule_bench.h"

#include "bitcycle/cost/cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;

TEST(ScheduleBenchTest, ACycleIsEachWidthsStepTimesTheStepsSpentThere) {
  const ScheduleBench bench{.rows = {{3, 0.25, {10, 0}}, {8, 0.75, {20, 0}}},
                            .static_bits = 8,
                            .static_step = {20, 0},
                            .cycle_steps = 100};
  EXPECT_DOUBLE_EQ(bench.cycle_ms(), 25 * 10 + 75 * 20);
  EXPECT_DOUBLE_EQ(bench.static_ms(), 2000);
  EXPECT_DOUBLE_EQ(bench.saving_percent(), 12.5);
}

ScheduleBenchOptions two_cycles_of_eight(const std::string& schedule) {
  return {
      .forward = {.name = schedule}, .backend = Backend::integer, .cycle_steps = 8, .repeats = 1};
}

std::vector<int> widths(const StepBenchOptions& steps) {
  std::vector<int> widths;
  for (const LayerBits& bits : steps.bits) {
    EXPECT_EQ(bits, layer_bits(bits.weight, 8));
    widths.push_back(bits.weight);
  }
  return widths;
}

// A measurement that nobody took: each step's milliseconds, repeat by repeat.
StepBench invented(const std::vector<std::vector<double>>& milliseconds) {
  StepBench bench;
  for (const auto& step : milliseconds) bench.steps.push_back({summarise(step), step, 0});
  return bench;
}

TEST(ScheduleBenchTest, EveryWidthOfTheCycleIsMeasuredOnceAndItsStepsAreCounted) {
  // CPT's cosine over 8 steps: 3 3 4 5 6 6 7 8.
  const auto options = two_cycles_of_eight("CR 3:8 x2");
  EXPECT_THAT(widths(steps_of(options)), ElementsAre(3, 4, 5, 6, 7, 8));
  const ScheduleBench bench = assess(options, invented({{10}, {11}, {13}, {17}, {19}, {40}}));
  EXPECT_DOUBLE_EQ(bench.cycle_ms(), 2 * 10 + 11 + 13 + 2 * 17 + 19 + 40);
  EXPECT_EQ(bench.static_bits, 8);
  EXPECT_DOUBLE_EQ(bench.static_ms(), 8 * 40);
}

TEST(ScheduleBenchTest, AStaticScheduleSavesNothingHoweverItsRepeatsDiffer) {
  const auto options = two_cycles_of_eight("6");
  EXPECT_THAT(widths(steps_of(options)), ElementsAre(6));
  const ScheduleBench bench = assess(options, invented({{10, 50, 20, 70}}));
  EXPECT_DOUBLE_EQ(bench.static_ms(), 8 * 35);
  EXPECT_DOUBLE_EQ(bench.saving_percent(), 0);
  EXPECT_DOUBLE_EQ(bench.saving_spread, 0);
}

TEST(ScheduleBenchTest, TheSavingsSpreadIsThatOfRepeatsAgainstThemselves) {
  // Half of the steps at 3 bits: repeats save 25, 25 and 40 percent, although times double.
  const auto options = two_cycles_of_eight("3 until 0.5, 8");
  EXPECT_THAT(widths(steps_of(options)), ElementsAre(3, 8));
  const auto spread = [&](const std::vector<double>& low, const std::vector<double>& high) {
    return assess(options, invented({low, high})).saving_spread;
  };
  EXPECT_NEAR(spread({10, 20, 40}, {20, 40, 80}), 0, 1e-9);
  EXPECT_NEAR(spread({10, 20, 4}, {20, 40, 20}), 0, 1e-9);    // 25 25 40
  EXPECT_NEAR(spread({10, 18, 4}, {20, 40, 20}), 2.5, 1e-9);  // 25 27.5 40
}

TEST(ScheduleBenchTest, AnUpperBoundThatNoStepReachesIsMeasuredAllTheSame) {
  // One step a cycle in effect: "2:4 x16" over 16 steps never leaves the lower bound.
  const auto options = two_cycles_of_eight("CR 2:4 x16");
  EXPECT_THAT(widths(steps_of(options)), ElementsAre(2, 4));
  const ScheduleBench bench = assess(options, invented({{15}, {20}}));
  EXPECT_EQ(bench.rows.size(), 1U);
  EXPECT_EQ(bench.static_bits, 4);
  EXPECT_DOUBLE_EQ(bench.saving_percent(), 25);
}

TEST(ScheduleBenchTest, MeasuresOnThisMachine) {
  const ScheduleBench bench =
      bench_schedule(bench_subject("cifar_resnet8", 2), two_cycles_of_eight("3 until 0.5, 8"));
  ASSERT_EQ(bench.rows.size(), 2U);
  EXPECT_GT(bench.rows[0].step.median, 0);
  EXPECT_GT(bench.rows[1].step.median, 0);
  EXPECT_GT(bench.float_step.median, 0);
}

}  // namespace
}  // namespace bitcycle
