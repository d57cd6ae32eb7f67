#include "cli/sweep/sweep_progress.h"

#include <gtest/gtest.h>

namespace bitcycle::cli {
namespace {

PlannedCell cell(const std::string& group, int seed, RunSummary run = {}) {
  if (run.run.empty()) run.state = SummaryState::unreadable;  // nothing there yet
  return {{group + ",seed=" + std::to_string(seed), group, "", {}}, run, {}};
}

RunSummary finished(double seconds) {
  return {.run = "r", .step = 100, .total = 100, .training_seconds = seconds};
}

RunSummary at(Step step) {
  return {.run = "r", .state = SummaryState::unfinished, .step = step, .total = 100};
}

TEST(SweepProgressTest, NothingIsKnownBeforeACellHasComeSomeWay) {
  SweepProgress progress({.cells = {cell("a", 1), cell("a", 2)}}, 1);
  EXPECT_FALSE(progress.seconds_left());
  progress.begin(0, 1000);
  progress.advance(0, 1005, at(1));
  EXPECT_FALSE(progress.seconds_left());
  EXPECT_EQ(progress.line(), "0/2 done; a,seed=1 step 1 of 100");
}

TEST(SweepProgressTest, OtherCellsTakeAsLongAsThoseOfTheirGroup) {
  const SweepPlan plan{.cells = {cell("slow", 1, finished(300)), cell("fast", 1, finished(100)),
                                 cell("slow", 2), cell("fast", 2), cell("new", 1)}};
  // 300 + 100, and 200, the mean of all, for the group of which nothing is known.
  EXPECT_DOUBLE_EQ(*SweepProgress(plan, 1).seconds_left(), 600);
  // Two jobs share it, but no cell is shared.
  EXPECT_DOUBLE_EQ(*SweepProgress(plan, 2).seconds_left(), 300);
  EXPECT_DOUBLE_EQ(*SweepProgress(plan, 8).seconds_left(), 300);
}

TEST(SweepProgressTest, ACellThatGoesOnIsMeasuredFromWhereItWas) {
  SweepProgress progress({.cells = {cell("a", 1, at(50))}}, 1);
  progress.begin(0, 1000);
  progress.advance(0, 1010, at(75));  // a quarter in 10 s
  EXPECT_DOUBLE_EQ(*progress.seconds_left(), 10);
}

TEST(SweepProgressTest, FailedCellsTakeNoMoreTime) {
  SweepProgress progress({.cells = {cell("a", 1), cell("a", 2)}}, 1);
  progress.begin(0, 0);
  progress.end(0, 60, true);
  progress.begin(1, 60);
  progress.end(1, 61, false);
  EXPECT_EQ(progress.counts(), "1 of 2 finished, 1 failed");
}

}  // namespace
}  // namespace bitcycle::cli
