#include "bitcycle/train/schedule_bench.h"

#include "bitcycle/network/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Gt;

TEST(ScheduleBenchTest, ACycleIsEachWidthsStepTimesTheStepsSpentThere) {
  const ScheduleBench bench{.rows = {{3, 0.25, {10, 0}}, {8, 0.75, {20, 0}}},
                            .static_bits = 8,
                            .static_step = {20, 0},
                            .cycle_steps = 100};
  EXPECT_DOUBLE_EQ(bench.cycle_ms(), 25 * 10 + 75 * 20);
  EXPECT_DOUBLE_EQ(bench.static_ms(), 2000);
  EXPECT_DOUBLE_EQ(bench.saving_percent(), 12.5);
}

struct Rows {
  std::vector<int> bits;
  std::vector<double> steps;  // of a cycle
  std::vector<double> medians;
};

Rows measured(const std::string& schedule, ScheduleBench& bench) {
  bench = bench_schedule(make_network("cifar_resnet8"), {.batch = 2,
                                                         .forward = {.name = schedule},
                                                         .backend = Backend::integer,
                                                         .cycle_steps = 8,
                                                         .repeats = 1});
  Rows rows;
  for (const ScheduleBench::Row& row : bench.rows) {
    rows.bits.push_back(row.bits);
    rows.steps.push_back(8 * row.share);
    rows.medians.push_back(row.step.median);
  }
  return rows;
}

TEST(ScheduleBenchTest, MeasuresEveryWidthOfTheCycleAndCountsItsSteps) {
  ScheduleBench bench;
  // CPT's cosine over 8 steps: 3 3 4 5 6 6 7 8.
  const Rows rows = measured("CR 3:8 x2", bench);
  EXPECT_THAT(rows.bits, ElementsAre(3, 4, 5, 6, 7, 8));
  EXPECT_THAT(rows.steps, ElementsAre(2, 1, 1, 2, 1, 1));
  EXPECT_THAT(rows.medians, Each(Gt(0)));
  EXPECT_EQ(bench.static_bits, 8);
  EXPECT_EQ(bench.static_step.median, rows.medians.back());
  EXPECT_GT(bench.float_step.median, 0);
}

TEST(ScheduleBenchTest, AStaticScheduleSavesNothing) {
  ScheduleBench bench;
  EXPECT_THAT(measured("6", bench).bits, ElementsAre(6));
  EXPECT_DOUBLE_EQ(bench.saving_percent(), 0);
  EXPECT_DOUBLE_EQ(bench.saving_spread, 0);
}

TEST(ScheduleBenchTest, AnUpperBoundThatNoStepReachesIsMeasuredAllTheSame) {
  ScheduleBench bench;
  // One step a cycle in effect: "2:4 x16" over 16 steps never leaves the lower bound.
  EXPECT_THAT(measured("CR 2:4 x16", bench).bits, ElementsAre(2));
  EXPECT_EQ(bench.static_bits, 4);
  EXPECT_GT(bench.static_step.median, 0);
}

}  // namespace
}  // namespace bitcycle
