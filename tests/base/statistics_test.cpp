#include "bitcycle/base/statistics.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using Values = std::vector<double>;

// Student's sleep data of 1908, as in R's `sleep`: hours gained by ten patients with each of two
// drugs. R says t = -4.0621, df = 9 for pairs and t = -1.8608, df = 17.776 for groups.
const Values kFirstDrug = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
const Values kSecondDrug = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

TEST(StatisticsTest, WholeNumbersToNSpreadAsTheirClosedForm) {
  for (const int n : {2, 3, 10, 101}) {
    Values values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1.0);
    EXPECT_DOUBLE_EQ(mean(values), (n + 1) / 2.0);
    EXPECT_NEAR(*standard_deviation(values), std::sqrt(n * (n + 1) / 12.0), 1e-12) << n;
    EXPECT_NEAR(*standard_error(values), std::sqrt((n + 1) / 12.0), 1e-12) << n;
  }
}

TEST(StatisticsTest, OneValueHasAMeanAndNoSpread) {
  const Spread one = spread(Values{0.75});
  EXPECT_EQ(one.count, 1u);
  EXPECT_EQ(one.mean, 0.75);
  EXPECT_FALSE(one.deviation);
  EXPECT_FALSE(one.error);
}

TEST(StatisticsTest, SpreadKeepsItsDigitsFarFromZero) {
  const Values far = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
  EXPECT_DOUBLE_EQ(*spread(far).deviation, std::sqrt(30.0));
}

TEST(StatisticsTest, PairsAgreeWithStudentsSleepData) {
  const Difference difference = paired_difference(kFirstDrug, kSecondDrug);
  EXPECT_NEAR(difference.value, -1.58, 1e-12);
  EXPECT_NEAR(difference.value / *difference.error, -4.0621, 5e-5);
  EXPECT_EQ(*difference.degrees, 9);
  EXPECT_EQ(difference.pairs, 10u);
}

TEST(StatisticsTest, GroupsAgreeWithStudentsSleepData) {
  const Difference difference = welch_difference(kFirstDrug, kSecondDrug);
  EXPECT_NEAR(difference.value, -1.58, 1e-12);
  EXPECT_NEAR(difference.value / *difference.error, -1.8608, 5e-5);
  EXPECT_NEAR(*difference.degrees, 17.776, 5e-4);
  EXPECT_EQ(difference.pairs, 0u);
}

TEST(StatisticsTest, GroupsOfDifferentSizesFollowTheFormula) {
  // var 1 over 3 and var 4 over 2: (1/3 + 2)^2 / ((1/3)^2 / 2 + 2^2 / 1).
  const Values three = {1, 2, 3}, two = {5 - std::sqrt(2.0), 5 + std::sqrt(2.0)};
  const Difference difference = welch_difference(three, two);
  EXPECT_NEAR(*difference.error, std::sqrt(7.0 / 3), 1e-12);
  EXPECT_NEAR(*difference.degrees, (49.0 / 9) / (1.0 / 18 + 4), 1e-12);
}

TEST(StatisticsTest, GroupsWithoutSpreadHaveNoErrorAndAllDegrees) {
  const Difference difference = welch_difference(Values{2, 2, 2}, Values{1, 1});
  EXPECT_EQ(difference.value, 1);
  EXPECT_EQ(*difference.error, 0);
  EXPECT_EQ(*difference.degrees, 3);
}

TEST(StatisticsTest, WhatASeedDoesToBothCancels) {
  const std::vector<SeededValue> one = {{1, 0.70}, {2, 0.80}, {3, 0.90}};
  const std::vector<SeededValue> other = {{3, 0.88}, {1, 0.68}, {2, 0.78}};
  const Difference difference = seeded_difference(one, other);
  EXPECT_EQ(difference.pairing, Pairing::same_seed);
  EXPECT_NEAR(difference.value, 0.02, 1e-12);
  EXPECT_NEAR(*difference.error, 0, 1e-12);
}

TEST(StatisticsTest, SeedsOfOneGroupAloneStayOutOfThePairs) {
  const Difference difference =
      seeded_difference(std::vector<SeededValue>{{1, 3}, {2, 5}, {7, 100}},
                        std::vector<SeededValue>{{2, 1}, {1, 1}, {8, -100}});
  EXPECT_EQ(difference.pairs, 2u);
  EXPECT_DOUBLE_EQ(difference.value, 3);   // of 2 and 4
  EXPECT_DOUBLE_EQ(*difference.error, 1);  // sqrt(2) / sqrt(2)
}

TEST(StatisticsTest, GroupsWithOtherSeedsAreComparedByWelch) {
  const std::vector<SeededValue> one = {{1, 1}, {2, 2}, {3, 3}}, other = {{3, 2}, {4, 4}, {5, 6}};
  const Difference difference = seeded_difference(one, other);
  const Difference expected = welch_difference(Values{1, 2, 3}, Values{2, 4, 6});
  EXPECT_EQ(difference.pairing, Pairing::welch);
  EXPECT_EQ(difference.value, expected.value);
  EXPECT_EQ(difference.error, expected.error);
  EXPECT_EQ(difference.degrees, expected.degrees);
}

TEST(StatisticsTest, ASingleRunIsComparedWithItsOwnSeedAndWithoutAnError) {
  const std::vector<SeededValue> three = {{1, 1}, {2, 2}, {3, 6}};
  const Difference paired = seeded_difference(three, std::vector<SeededValue>{{2, 1}});
  EXPECT_EQ(paired.value, 1);
  EXPECT_EQ(paired.pairs, 1u);
  EXPECT_FALSE(paired.error);
  const Difference apart = seeded_difference(three, std::vector<SeededValue>{{9, 1}});
  EXPECT_EQ(apart.value, 2);
  EXPECT_FALSE(apart.error);
}

// R: pt(t, df). With one degree of freedom it is Cauchy's, with two (1 + t / sqrt(2 + t^2)) / 2.
TEST(StatisticsTest, StudentsTIsThatOfTables) {
  EXPECT_NEAR(student_below(4.540703, 3), 0.99, 1e-7);
  EXPECT_NEAR(student_below(2.602480, 15), 0.99, 1e-7);
  EXPECT_NEAR(student_below(1.959964, 1e7), 0.975, 1e-6);
  for (const double t : {-30.0, -1.5, -0.01, 0.0, 0.3, 2.0, 100.0}) {
    EXPECT_NEAR(student_below(t, 1), 0.5 + std::atan(t) / std::numbers::pi, 1e-12) << t;
    EXPECT_NEAR(student_below(t, 2), (1 + t / std::sqrt(2 + t * t)) / 2, 1e-12) << t;
    EXPECT_NEAR(student_below(t, 7) + student_below(-t, 7), 1, 1e-12) << t;
  }
}

TEST(StatisticsTest, QuartilesAreThoseOfRAndNumPy) {
  // Python: statistics.quantiles([1, 3, 4, 9, 11, 20], n=4, method="inclusive").
  const Quartiles box = quartiles(Values{20, 3, 11, 1, 9, 4});
  EXPECT_EQ(box.least, 1);
  EXPECT_DOUBLE_EQ(box.lower, 3.25);
  EXPECT_DOUBLE_EQ(box.median, 6.5);
  EXPECT_DOUBLE_EQ(box.upper, 10.5);
  EXPECT_EQ(box.most, 20);
}

TEST(StatisticsTest, QuantilesOfOneValueAreThatValue) {
  for (const double p : {0.0, 0.25, 0.5, 1.0}) EXPECT_EQ(quantile(Values{7}, p), 7);
}

}  // namespace
}  // namespace bitcycle
