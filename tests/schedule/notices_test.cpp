#include "bitcycle/schedule/notices.h"

#include <gmock/gmock.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> notices(const std::string& text, Step total,
                                 std::string_view unit = "steps") {
  return schedule_notices({.name = text}, total, unit);
}

TEST(ScheduleNoticesTest, AnOddNumberOfTriangularCyclesEndsLow) {
  for (const std::string name : {"CT", "LT", "ETV", "ETH", "RTV", "RTH"}) {
    EXPECT_THAT(notices(name + " 3:8 x3", 3000),
                ElementsAre("an odd number of " + name +
                            " cycles (3) ends the run at 3 bits; an "
                            "even number ends it at 8"));
    EXPECT_THAT(notices(name + " 3:8 x4", 4000), IsEmpty());
  }
  EXPECT_THAT(notices("CR 3:8 x3", 3000), IsEmpty());
  EXPECT_THAT(notices("triangular 3:8 x3", 3000), IsEmpty());
}

TEST(ScheduleNoticesTest, EveryPartOfAnExpressionIsLookedAt) {
  EXPECT_THAT(notices("static 4 until 0.5, CT 4:8 x3", 600),
              ElementsAre(HasSubstr("(3) ends the run at 4 bits")));
  EXPECT_THAT(notices("CT 4:8 x1 until 0.5, 8", 600),
              ElementsAre(HasSubstr("(1) ends its part of the run at 4 bits")));
}

TEST(ScheduleNoticesTest, AHeldUpperBoundEndsTheRunHigh) {
  EXPECT_THAT(schedule_notices({.name = "CT", .min = 3, .cycles = 3, .end = 0.9}, 3000, "steps"),
              IsEmpty());
}

TEST(ScheduleNoticesTest, AsManyCyclesAsStepsLeaveNoRoom) {
  for (const std::string name : {"CR", "CT", "cosine", "anneal"}) {
    EXPECT_THAT(notices(name + " 3:8 x16", 16),
                ElementsAre("16 cycles of " + name +
                            " in 16 steps leave no room to move within a cycle; take fewer "
                            "cycles"));
    EXPECT_THAT(notices(name + " 3:8 x24", 16), ElementsAre(HasSubstr("24 cycles of " + name)));
  }
  EXPECT_THAT(notices("CR 3:8 x1", 1, "epochs"),
              ElementsAre(HasSubstr("1 cycle of CR in 1 epoch ")));
  // Of the part's own steps.
  EXPECT_THAT(notices("8 until 0.9, CR 3:8 x10", 100), ElementsAre(HasSubstr("in 10 steps")));
}

TEST(ScheduleNoticesTest, TooShortToReachTheUpperBound) {
  // A rising cycle between 3 and 8 bits needs 5 steps (cosine), 10 (linear), 3 (exponential), 91
  // (REX): docs/schedules.md.
  const std::pair<std::string, Step> shortest[] = {{"CR", 5}, {"LR", 10}, {"ER", 3}, {"RR", 91}};
  for (const auto& [name, steps] : shortest) {
    EXPECT_THAT(notices(name + " 3:8 x1", steps, "epochs"), IsEmpty()) << name;
    EXPECT_THAT(notices(name + " 3:8 x1", steps - 1, "epochs"),
                ElementsAre(HasSubstr(name + " does not reach its upper bound of 8 bits in")))
        << name;
  }
  EXPECT_THAT(notices("CR 3:8 x2", 6, "epochs"),
              ElementsAre("CR does not reach its upper bound of 8 bits in 6 epochs, only 7; take "
                          "fewer cycles or a longer run"));
  EXPECT_THAT(notices("progressive 3:8", 3, "epochs"),
              ElementsAre(HasSubstr("in 3 epochs, only 7; take a longer run")));
}

TEST(ScheduleNoticesTest, WhatDoesNotMoveIsNotSpokenOf) {
  EXPECT_THAT(notices("8", 1), IsEmpty());
  EXPECT_THAT(notices("fp", 1), IsEmpty());
  EXPECT_THAT(notices("CT 8:8 x3", 3), IsEmpty());
  EXPECT_THAT(notices("CR 3:8 x8", Step{1} << 40), IsEmpty());
}

}  // namespace
}  // namespace bitcycle
