// Reference values of the Cyclic Precision Training paper's schedules, computed from its formulas.

#include "bitcycle/schedule/compose.h"
#include "bitcycle/schedule/spec.h"
#include "bitcycle/schedule/summary.h"

#include "schedule/sequence.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

constexpr Step kCifarSteps = 64000;
constexpr int kCycles = 32;

Schedule one_cycle(const std::string& name, int min, int max, Step length) {
  return make_schedule({.name = name, .min = min, .max = max, .cycles = 1}, length);
}

Schedule cifar(const std::string& name, int min, int max) {
  return make_schedule({.name = name, .min = min, .max = max, .cycles = kCycles}, kCifarSteps);
}

double saving(const std::string& name, int min, int max, int backward) {
  const double cost =
      relative_cost(cifar(name, min, max), constant(backward), kCifarSteps, {max, backward});
  return 100 * (1 - cost);
}

struct Reference {
  Step length;
  int min, max;
  const char* changes;
};

TEST(CptCosineTest, ChangesWidthAtTheReferenceSteps) {
  const Reference kReferences[] = {
      {2000, 3, 8, "3:0 4:410 5:739 6:1000 7:1262 8:1591"},
      {2000, 3, 6, "3:0 4:536 5:1001 6:1465"},
      {2000, 4, 8, "4:0 5:461 6:840 7:1161 8:1540"},
      {2000, 4, 6, "4:0 5:667 6:1334"},
      {2000, 3, 4, "3:0 4:1000"},
      {2000, 5, 6, "5:0 6:1000"},
      {2000, 5, 8, "5:0 6:536 7:1001 8:1465"},
      {8000, 3, 8, "3:0 4:1639 5:2953 6:4000 7:5048 8:6362"},
      {18768, 4, 8, "4:0 5:4318 6:7875 7:10894 8:14451"},
      {18768, 4, 6, "4:0 5:6257 6:12513"},
  };
  for (const Reference& r : kReferences) {
    EXPECT_EQ(changes(one_cycle("cosine", r.min, r.max, r.length), r.length), r.changes);
  }
}

TEST(CptCosineTest, PerEpochSequencesMatch) {
  const auto epochs = [](int min, int max) { return widths(one_cycle("cosine", min, max, 5), 5); };
  EXPECT_EQ(epochs(3, 8), "3 3 5 6 8");
  EXPECT_EQ(epochs(3, 6), "3 3 4 5 6");
  EXPECT_EQ(epochs(4, 8), "4 4 5 7 8");
  EXPECT_EQ(epochs(4, 6), "4 4 5 5 6");
  EXPECT_EQ(epochs(8, 32), "8 10 16 24 30");
  EXPECT_EQ(widths(one_cycle("cosine", 3, 8, 20), 20), "3 3 3 3 3 4 4 4 5 5 6 6 6 7 7 7 8 8 8 8");
}

TEST(CptCosineTest, MeanWidthsMatch) {
  EXPECT_NEAR(mean_bits(cifar("cosine", 3, 8), kCifarSteps), 5.4990, 5e-5);
  EXPECT_NEAR(mean_bits(cifar("cosine", 3, 6), kCifarSteps), 4.4990, 5e-5);
  EXPECT_NEAR(mean_bits(cifar("cosine", 4, 8), kCifarSteps), 5.9990, 5e-5);
}

// With floor, ImageNet's 600600 steps make 32 cycles of 18768; 4..6 bits meets two near-ties that
// only the paper's own order of operations rounds its way, and 24 steps are left over.
TEST(CptCosineTest, NearTiesAndTheTailOfTheFloorRuleAreThePapers) {
  const Schedule schedule = make_schedule(
      {.name = "cosine", .min = 4, .max = 6, .cycles = 32, .cycle_length = CycleLength::floor},
      600600);
  for (Step cycle : {0, 1, 31}) {
    EXPECT_EQ(schedule.bits(18768 * cycle + 6256), 4);
    EXPECT_EQ(schedule.bits(18768 * cycle + 12512), 5);
  }
  EXPECT_EQ(schedule.bits(600600 - 25), 6);
  for (Step t = 600600 - 24; t < 600600; ++t) EXPECT_EQ(schedule.bits(t), 4);
}

TEST(CptCosineTest, SavingsAreThoseOfThePaper) {
  EXPECT_NEAR(saving("cosine", 3, 8, 8), 36.673, 0.001);
  EXPECT_NEAR(saving("cosine", 3, 6, 6), 30.046, 0.001);
  EXPECT_NEAR(saving("cosine", 4, 8, 8), 30.11, 0.005);
  EXPECT_NEAR(saving("cosine", 4, 6, 6), 20.69, 0.005);
  EXPECT_NEAR(saving("cosine", 5, 8, 8), 23.16, 0.005);
  EXPECT_NEAR(saving("cosine", 5, 6, 8), 10.23, 0.005);
  EXPECT_NEAR(saving("cosine", 3, 4, 6), 14.84, 0.005);
}

TEST(CptCosineTest, AdvancingPerEpochWouldSaveMore) {
  const Schedule schedule = make_epoch_schedule(
      {.name = "cosine", .min = 3, .max = 8, .cycles = kCycles}, kCifarSteps, kCifarSteps / 160);
  const double cost = relative_cost(schedule, constant(8), kCifarSteps, {8, 8});
  EXPECT_NEAR(100 * (1 - cost), 43.4, 0.05);
}

TEST(CptVariantsTest, TriangularChangesWidthAtTheReferenceSteps) {
  const Reference kReferences[] = {
      {2000, 3, 8, "3:0 4:100 5:301 6:500 7:701 8:900 7:1101 6:1300 5:1501 4:1700 3:1901"},
      {2000, 3, 6, "3:0 4:167 5:501 6:834 5:1167 4:1500 3:1834"},
      {2000, 4, 8, "4:0 5:126 6:375 7:626 8:875 7:1126 6:1375 5:1626 4:1875"},
      {2000, 4, 6, "4:0 5:251 6:750 5:1251 4:1750"},
  };
  for (const Reference& r : kReferences) {
    EXPECT_EQ(changes(one_cycle("triangular", r.min, r.max, r.length), r.length), r.changes);
  }
}

TEST(CptVariantsTest, AnnealChangesWidthAtTheReferenceSteps) {
  const Reference kReferences[] = {
      {2000, 3, 8, "8:0 7:410 6:739 5:1001 4:1262 3:1591"},
      {2000, 3, 6, "6:0 5:536 4:1000 3:1465"},
      {2000, 4, 8, "8:0 7:461 6:840 5:1161 4:1540"},
      {2000, 4, 6, "6:0 5:667 4:1334"},
  };
  for (const Reference& r : kReferences) {
    EXPECT_EQ(changes(one_cycle("anneal", r.min, r.max, r.length), r.length), r.changes);
  }
}

TEST(CptVariantsTest, SavingsMatch) {
  EXPECT_NEAR(saving("triangular", 3, 8, 8), 37.23, 0.005);
  EXPECT_NEAR(saving("triangular", 3, 6, 6), 30.41, 0.005);
  EXPECT_NEAR(saving("triangular", 4, 8, 8), 30.47, 0.005);
  EXPECT_NEAR(saving("triangular", 4, 6, 6), 20.83, 0.005);
  EXPECT_NEAR(saving("anneal", 3, 8, 8), 36.64, 0.005);
  EXPECT_NEAR(saving("anneal", 3, 6, 6), 30.02, 0.005);
  EXPECT_NEAR(saving("anneal", 4, 8, 8), 30.08, 0.005);
  EXPECT_NEAR(saving("anneal", 4, 6, 6), 20.67, 0.005);
}

TEST(CptDelayedStartTest, StaysAtTheLowerBoundThenCyclesInTheUsualPhase) {
  const Schedule cosine = cifar("cosine", 3, 8);
  for (int epoch : {0, 60, 80, 100, 120, 160}) {
    const Schedule delayed = make_schedule(
        {.name = "cosine", .min = 3, .max = 8, .cycles = kCycles, .start = epoch / 160.0},
        kCifarSteps);
    const Step start = kCifarSteps * epoch / 160;
    for (Step t = 0; t < kCifarSteps; t += 7) {
      ASSERT_EQ(delayed.bits(t), t < start ? 3 : cosine.bits(t)) << epoch << ' ' << t;
    }
  }
}

TEST(CptGradientTest, CyclesAsTheForwardWidthsDo) {
  for (int max : {8, 10, 12, 16}) {
    const Schedule backward = cifar("cosine", 6, max);
    EXPECT_EQ(backward.bits(0), 6);
    EXPECT_EQ(backward.bits(1999), max);
    EXPECT_EQ(backward.bits(2000), 6);
  }
  // Forward held at 6, backward 6 to 16: (36 + 12 g) on average against 36 + 12 * 16.
  const Schedule backward = cifar("cosine", 6, 16);
  EXPECT_NEAR(relative_cost(constant(6), backward, kCifarSteps, {6, 16}),
              (36 + 12 * mean_bits(backward, kCifarSteps)) / (36 + 12 * 16), 1e-12);
}

// Figure 1: 16 of 160 epochs each at 3, 4, 5, 6 and 7 bits, then 8.
TEST(CptProgressiveTest, RisesUniformlyOverTheFirstHalf) {
  const Schedule schedule =
      make_schedule({.name = "progressive", .min = 3, .max = 8, .end = 0.6}, 160);
  EXPECT_EQ(changes(schedule, 160), "3:0 4:16 5:32 6:48 7:64 8:80");
}

}  // namespace
}  // namespace bitcycle
