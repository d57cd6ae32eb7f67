#include "bitcycle/schedule/summary.h"

#include "bitcycle/schedule/compose.h"
#include "bitcycle/schedule/spec.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(SummaryTest, LevelsHaveTheirFirstStepAndLength) {
  const Schedule schedule = join({constant(8), constant(0), constant(3), constant(8)}, {2, 3, 7});
  const std::vector<Level> found = levels(schedule, 10);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].bits, 3);
  EXPECT_EQ(found[0].first, 3);
  EXPECT_EQ(found[0].steps, 4);
  EXPECT_EQ(found[1].bits, 8);
  EXPECT_EQ(found[1].first, 0);
  EXPECT_EQ(found[1].steps, 5);
  EXPECT_EQ(found[2].bits, 0);
}

TEST(SummaryTest, FloatCountsAsThirtyTwoBits) {
  const Schedule schedule = join({constant(8), constant(0)}, {1});
  EXPECT_DOUBLE_EQ(mean_bits(schedule, 2), 20);
  EXPECT_DOUBLE_EQ(relative_cost(constant(0), constant(0), 5, {32, 32}), 1);
  EXPECT_DOUBLE_EQ(relative_cost(constant(8), constant(8), 5, {0, 0}), 0.0625);
}

TEST(SummaryTest, AFloatForwardPassMakesTheBackwardPassFloat) {
  EXPECT_DOUBLE_EQ(relative_cost(constant(0), constant(8), 5, {0, 0}), 1);
  EXPECT_DOUBLE_EQ(relative_cost(constant(8), constant(0), 5, {0, 0}), (64 + 512) / 3072.0);
}

TEST(SummaryTest, StaticCostsOneAndHalfTheBitsLess) {
  EXPECT_DOUBLE_EQ(relative_cost(constant(8), constant(8), 7, {8, 8}), 1);
  EXPECT_DOUBLE_EQ(relative_cost(constant(4), constant(8), 7, {8, 8}), (16 + 64) / 192.0);
}

}  // namespace
}  // namespace bitcycle
