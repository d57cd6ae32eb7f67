#include "bitcycle/config/paired_share.h"

#include <cmath>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(PairedShareTest, IsTheRatioOfSumsWithTheErrorOfTheResiduals) {
  const PairedShare found = paired_share({{1, 2}, {2, 2}, {3, 4}});
  EXPECT_EQ(found.pairs, 3);
  EXPECT_DOUBLE_EQ(found.share.value, 0.75);
  // Residuals -0.5, 0.5, 0: standard deviation 0.5, over sqrt(3) and the mean of high, 8/3.
  EXPECT_DOUBLE_EQ(found.share.error, 0.5 / std::sqrt(3) / (8.0 / 3));
  EXPECT_DOUBLE_EQ(found.low.value, 2);
  EXPECT_DOUBLE_EQ(found.low.error, 1 / std::sqrt(3));
  EXPECT_DOUBLE_EQ(found.high.value, 8.0 / 3);
}

TEST(PairedShareTest, WhatBothOfAPairHaveInCommonCancels) {
  const PairedShare found = paired_share({{0.8, 1}, {1.6, 2}, {4, 5}, {0.4, 0.5}});
  EXPECT_DOUBLE_EQ(found.share.value, 0.8);
  EXPECT_NEAR(found.share.error, 0, 1e-15);
}

TEST(PairedShareTest, KnowsNothingOfOnePairAndOfATopThatHasLearnedNothing) {
  for (const auto& pairs : {std::vector<LearnedPair>{}, {{1, 1}}, {{1, -1}, {2, 0.5}}}) {
    const PairedShare found = paired_share(pairs);
    EXPECT_EQ(found.share, (EstimatedMean{0, 1}));
  }
  EXPECT_EQ(surely_above(paired_share({{1, 1}}), 0.8), 0.5);
}

// R: pt(2, 3) = 0.930337.
TEST(PairedShareTest, SurenessIsStudentsT) {
  const PairedShare found{.pairs = 4, .share = {0.9, 0.05}};
  EXPECT_NEAR(surely_above(found, 0.8), 0.930337, 1e-6);
  EXPECT_NEAR(surely_above(found, 1.0), 1 - 0.930337, 1e-6);
  EXPECT_EQ(surely_above(found, 0.9), 0.5);
}

TEST(PairedShareTest, WithoutAnyNoiseItIsSure) {
  const PairedShare found{.pairs = 4, .share = {0.9, 0}};
  EXPECT_EQ(surely_above(found, 0.8), 1);
  EXPECT_EQ(surely_above(found, 0.95), 0);
  EXPECT_EQ(surely_above(found, 0.9), 0.5);
}

}  // namespace
}  // namespace bitcycle
