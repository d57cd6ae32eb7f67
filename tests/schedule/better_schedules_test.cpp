// Reference values of the "Better Schedules" suite: run lengths, sums, costs and time shares, each
// computed apart from this code.

#include "bitcycle/schedule/compose.h"
#include "bitcycle/schedule/spec.h"
#include "bitcycle/schedule/summary.h"

#include "schedule/sequence.h"

#include <array>
#include <map>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

Schedule suite(const std::string& name, Step total, int min = 3, int max = 8, int cycles = 8) {
  return make_schedule({.name = name, .min = min, .max = max, .cycles = cycles}, total);
}

Step sum_of_bits(const Schedule& schedule, Step total) {
  Step sum = 0;
  for (Step t = 0; t < total; ++t) sum += schedule.bits(t);
  return sum;
}

TEST(BetterSchedulesTest, SixtyFourStepsHaveTheReferenceSumsCostsAndEnds) {
  struct Row {
    const char* name;
    Step sum;
    double cost;
    int last;
  };
  const Row kRows[] = {{"CR", 336, 0.5964, 8},  {"CT", 356, 0.6403, 8}, {"LR", 336, 0.5911, 7},
                       {"LT", 356, 0.6351, 7},  {"ER", 416, 0.7760, 8}, {"ETV", 352, 0.6354, 8},
                       {"ETH", 436, 0.8200, 8}, {"RR", 224, 0.3581, 5}, {"RTV", 352, 0.6393, 5},
                       {"RTH", 244, 0.4020, 5}};
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const Schedule schedule = suite(row.name, 64);
    EXPECT_EQ(sum_of_bits(schedule, 64), row.sum);
    EXPECT_DOUBLE_EQ(mean_bits(schedule, 64), static_cast<double>(row.sum) / 64);
    EXPECT_NEAR(relative_cost(schedule, constant(8), 64, {8, 8}), row.cost, 5e-5);
    EXPECT_EQ(schedule.bits(63), row.last);
  }
}

TEST(BetterSchedulesTest, CyclesOfAHundredStepsHaveTheReferenceRunLengths) {
  struct Row {
    const char* name;
    const char* first;   // cycle 0
    const char* second;  // cycle 1
  };
  const char* kCosine = "3x21 4x16 5x13 6x14 7x16 8x20";
  const char* kLinear = "3x10 4x21 5x19 6x21 7x19 8x10";
  const char* kExponential = "3x3 4x6 5x9 6x13 7x27 8x42";
  const char* kRex = "3x53 4x29 5x9 6x5 7x3 8x1";
  const Row kRows[] = {{"CR", kCosine, kCosine},
                       {"CT", "8x21 7x16 6x14 5x13 4x16 3x20", kCosine},
                       {"LR", kLinear, kLinear},
                       {"LT", "8x11 7x19 6x21 5x19 4x21 3x9", kLinear},
                       {"ER", kExponential, kExponential},
                       {"ETV", "8x3 7x6 6x9 5x13 4x27 3x42", kExponential},
                       {"ETH", "8x43 7x27 6x13 5x9 4x6 3x2", kExponential},
                       {"RR", kRex, kRex},
                       {"RTV", "8x53 7x29 6x9 5x5 4x3 3x1", kRex},
                       {"RTH", "8x2 7x3 6x5 5x9 4x29 3x52", kRex}};
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const Schedule schedule = suite(row.name, 800);
    EXPECT_EQ(runs(schedule, 0, 100), row.first);
    EXPECT_EQ(runs(schedule, 100, 200), row.second);
  }
}

TEST(BetterSchedulesTest, EightHundredStepsHaveTheReferenceSums) {
  const std::map<std::string, Step> kSums = {
      {"CR", 4384},  {"CT", 4404},  {"LR", 4384}, {"LT", 4404},  {"ER", 5448},
      {"ETV", 4400}, {"ETH", 5468}, {"RR", 3032}, {"RTV", 4400}, {"RTH", 3052}};
  for (const auto& [name, sum] : kSums) EXPECT_EQ(sum_of_bits(suite(name, 800), 800), sum) << name;
}

TEST(BetterSchedulesTest, CostsOfLongCyclesMatch) {
  struct Column {
    int min, max, backward;
  };
  const Column kColumns[] = {{3, 8, 8}, {3, 6, 6}, {3, 6, 8}, {4, 8, 8},
                             {4, 6, 6}, {5, 8, 8}, {5, 6, 6}};
  struct Row {
    const char* name;
    double mean;  // of 3..8
    std::array<double, 7> costs;
  };
  const Row kRows[] = {{"RR", 3.806, {0.3990, 0.4971, 0.5111, 0.5011, 0.6443, 0.6106, 0.8064}},
                       {"RTH", 3.806, {0.3990, 0.4972, 0.5111, 0.5012, 0.6444, 0.6106, 0.8064}},
                       {"LR", 5.500, {0.6276, 0.6959, 0.7058, 0.6953, 0.7916, 0.7665, 0.8935}},
                       {"LT", 5.500, {0.6276, 0.6960, 0.7058, 0.6953, 0.7917, 0.7665, 0.8935}},
                       {"CR", 5.500, {0.6334, 0.6997, 0.7088, 0.6990, 0.7932, 0.7686, 0.8935}},
                       {"CT", 5.500, {0.6334, 0.6997, 0.7089, 0.6991, 0.7932, 0.7686, 0.8935}},
                       {"ETV", 5.500, {0.6348, 0.7009, 0.7098, 0.7001, 0.7938, 0.7692, 0.8935}},
                       {"RTV", 5.500, {0.6373, 0.7025, 0.7112, 0.7017, 0.7945, 0.7702, 0.8935}},
                       {"ER", 6.834, {0.8224, 0.8629, 0.8676, 0.8581, 0.9122, 0.8951, 0.9631}},
                       {"ETH", 6.835, {0.8225, 0.8629, 0.8676, 0.8582, 0.9122, 0.8951, 0.9631}}};
  const Step total = 2 * 8000;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    EXPECT_NEAR(mean_bits(suite(row.name, total, 3, 8, 2), total), row.mean, 6e-4);
    for (std::size_t i = 0; i < row.costs.size(); ++i) {
      const auto [min, max, backward] = kColumns[i];
      const Schedule schedule = suite(row.name, total, min, max, 2);
      EXPECT_NEAR(relative_cost(schedule, constant(backward), total, {max, backward}), row.costs[i],
                  5.1e-5)
          << min << ".." << max;
    }
  }
}

TEST(BetterSchedulesTest, LongCyclesSpendTheReferenceShareOfTimeAtEachWidth) {
  const std::map<std::string, std::array<double, 6>> kShares = {
      {"CR", {.205, .164, .131, .131, .164, .205}},  {"LR", {.1, .2, .2, .2, .2, .1}},
      {"ER", {.026, .063, .084, .128, .275, .424}},  {"ETH", {.026, .063, .084, .128, .275, .424}},
      {"ETV", {.225, .169, .106, .106, .169, .225}}, {"RR", {.526, .285, .098, .050, .030, .011}},
      {"RTH", {.526, .285, .098, .050, .030, .011}}, {"RTV", {.269, .157, .074, .074, .157, .269}}};
  const Step total = 2 * 8000;
  for (const auto& [name, shares] : kShares) {
    SCOPED_TRACE(name);
    const std::vector<Level> found = levels(suite(name, total, 3, 8, 2), total);
    ASSERT_EQ(found.size(), shares.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(found[i].steps) / total, shares[i], 6e-4);
    }
  }
}

// Sampled at whole steps, a short cycle never rounds up to max.
TEST(BetterSchedulesTest, TheShortestCycleThatReachesMaxMatches) {
  struct Row {
    int min, max;
    Step c, l, e, r;
  };
  const Row kRows[] = {{3, 8, 5, 10, 3, 91}, {4, 8, 5, 8, 3, 71}, {5, 8, 4, 6, 2, 51},
                       {3, 6, 4, 6, 2, 51},  {4, 6, 3, 4, 2, 31}, {5, 6, 2, 2, 2, 11}};
  const auto shortest = [](const std::string& name, int min, int max) {
    Step length = 1;
    while (suite(name, length, min, max, 1).bits(length - 1) < max) ++length;
    return length;
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(shortest("CR", row.min, row.max), row.c);
    EXPECT_EQ(shortest("LR", row.min, row.max), row.l);
    EXPECT_EQ(shortest("ER", row.min, row.max), row.e);
    EXPECT_EQ(shortest("RR", row.min, row.max), row.r);
  }
}

TEST(BetterSchedulesTest, ParametersOfRexAndTheExponentialShiftTheCost) {
  const Step total = 8 * 8000;
  const auto cost = [&](const ScheduleSpec& spec) {
    return relative_cost(make_schedule(spec, total), constant(8), total, {8, 8});
  };
  EXPECT_NEAR(cost({.name = "RR", .min = 3, .max = 8, .beta = 0.5}), 0.547, 5e-4);
  EXPECT_NEAR(cost({.name = "RR", .min = 3, .max = 8, .beta = 0.0}),
              cost({.name = "LR", .min = 3, .max = 8}), 2e-4);
  EXPECT_LT(cost({.name = "ER", .min = 3, .max = 8, .rate = 2.0}),
            cost({.name = "ER", .min = 3, .max = 8}));
}

TEST(BetterSchedulesTest, EveryScheduleStaysWithinItsBounds) {
  for (const std::string& name : schedule_names()) {
    if (name == "static") continue;
    for (const Step total : {1, 7, 64, 1001}) {
      const Schedule schedule = suite(name, total, 3, 8, 5);
      for (Step t = 0; t < total; ++t) {
        ASSERT_GE(schedule.value(t), 3) << name;
        ASSERT_LE(schedule.value(t), 8) << name;
      }
    }
  }
}

}  // namespace
}  // namespace bitcycle
