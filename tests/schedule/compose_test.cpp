#include "bitcycle/schedule/compose.h"

#include "bitcycle/base/error.h"

#include "schedule/sequence.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

// Counts its own steps from 2 on, so that a test sees which step a part was asked for.
Schedule counting() {
  return Schedule([](Step t) { return static_cast<double>(2 + t); });
}

TEST(ScheduleTest, RoundsHalfToEvenAndReadsNegativeStepsAsZero) {
  const Schedule schedule([](Step t) { return 3.5 + static_cast<double>(t); });
  EXPECT_EQ(schedule.bits(0), 4);
  EXPECT_EQ(schedule.bits(1), 4);
  EXPECT_EQ(schedule.bits(2), 6);
  EXPECT_EQ(schedule.value(-1), 3.5);
}

TEST(ComposeTest, ConstantIsTheSameEverywhereAndMayBeFloat) {
  EXPECT_EQ(constant(8).bits(0), 8);
  EXPECT_EQ(constant(8).bits(1000000), 8);
  EXPECT_EQ(constant(0).bits(3), 0);
}

TEST(ComposeTest, ProgressiveGivesEachWidthAnEqualShare) {
  EXPECT_EQ(widths(progressive(3, 5, 0, 6), 8), "3 3 4 4 5 5 5 5");
  EXPECT_EQ(widths(progressive(3, 5, 2, 8), 9), "3 3 3 3 4 4 5 5 5");
  EXPECT_EQ(widths(progressive(3, 8, 0, 4), 5), "3 4 6 7 8");  // fewer steps than widths
  EXPECT_EQ(widths(progressive(3, 8, 2, 2), 4), "3 3 8 8");    // no window: a jump
  EXPECT_EQ(widths(progressive(6, 6, 0, 4), 4), "6 6 6 6");
  EXPECT_THROW(progressive(8, 3, 0, 4), Error);
}

TEST(ComposeTest, DelayKeepsThePhaseOfTheRun) {
  EXPECT_EQ(widths(delay(counting(), 3, 8), 6), "8 8 8 5 6 7");
  EXPECT_EQ(widths(delay(counting(), 0, 8), 3), "2 3 4");
}

TEST(ComposeTest, HoldKeepsAValueFromAStepOn) {
  EXPECT_EQ(widths(hold(counting(), 2), 5), "2 3 4 4 4");
  EXPECT_EQ(widths(hold(counting(), 2, 8), 5), "2 3 8 8 8");
  EXPECT_EQ(widths(hold(counting(), 0), 3), "2 2 2");
}

TEST(ComposeTest, ClampBoundsTheValueButLeavesFloatAlone) {
  EXPECT_EQ(widths(clamp(counting(), 3, 5), 5), "3 3 4 5 5");
  EXPECT_EQ(clamp(constant(0), 3, 5).bits(0), 0);
  EXPECT_THROW(clamp(counting(), 5, 3), Error);
}

TEST(ComposeTest, JoinedPartsCountTheirOwnSteps) {
  EXPECT_EQ(widths(join({counting(), counting(), constant(8)}, {2, 5}), 7), "2 3 2 3 4 8 8");
  EXPECT_EQ(widths(join({counting()}, {}), 3), "2 3 4");
  EXPECT_EQ(widths(join({constant(4), constant(5), constant(6)}, {1, 1}), 3), "4 6 6");
}

TEST(ComposeTest, PerEpochAdvancesOnceAnEpoch) {
  EXPECT_EQ(widths(per_epoch(counting(), 3), 8), "2 2 2 3 3 3 4 4");
  EXPECT_EQ(widths(per_epoch(counting(), 1), 3), "2 3 4");
}

TEST(ComposeTest, CompositionsNest) {
  const Schedule schedule = hold(delay(per_epoch(counting(), 2), 2, 8), 5);
  EXPECT_EQ(widths(schedule, 8), "8 8 3 3 4 4 4 4");
}

TEST(ComposeTest, FractionsOfARunAreRoundedToSteps) {
  EXPECT_EQ(step_at(0, 160), 0);
  EXPECT_EQ(step_at(0.6, 160), 96);
  EXPECT_EQ(step_at(0.375, 64000), 24000);
  EXPECT_EQ(step_at(1, 64000), 64000);
  EXPECT_EQ(step_at(1.0 / 3, 10), 3);
}

}  // namespace
}  // namespace bitcycle
