#include "bitcycle/config/range_policy.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/make_policy.h"
#include "bitcycle/network/zoo.h"

#include "config/made_up_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<LayerInfo> kLayers = layers_of(make_network("cifar_resnet8"));
constexpr RunLength kPapers{64'000, 390};

PrecisionRecipe automatic(const RangeTestRecipe& test = {}) {
  PrecisionRecipe recipe;
  recipe.forward = {.name = "auto"};
  recipe.range_test = test;
  return recipe;
}

// Trains a network that keeps 0.3 at 2 bits and all from 3 on, until the test has ended.
std::vector<StageChange> run_test(RangePolicy& policy) {
  MadeUpNetwork network(1, {{2, 0.3}});
  std::vector<StageChange> changes;
  for (Step step = 0; !policy.test().ended(); ++step) {
    const double accuracy = 0.1 + network.step(policy.decide(step).common.weight);
    const auto change = policy.observe(step, {{"loss", 1, 1}, {"accuracy", 128 * accuracy, 128}});
    if (change) changes.push_back(*change);
  }
  return changes;
}

TEST(RangePolicyTest, TheScheduleFollowsBetweenTheBoundsThatWereFound) {
  RangePolicy policy(automatic(), kLayers, kPapers);
  EXPECT_EQ(policy.decide(0).common, (LayerBits{8, 8, 8}));
  const auto changes = run_test(policy);
  const Step end = policy.test().steps();
  EXPECT_LT(end, 2000);
  const Schedule schedule =
      make_schedule({.name = "cosine", .min = 3, .max = 8, .cycles = 32}, 64'000);
  for (const Step step : {end, Step{1999}, Step{2000}, Step{3100}, Step{63'999}}) {
    const int bits = schedule.bits(step);
    EXPECT_EQ(policy.decide(step).common, (LayerBits{bits, bits, 8})) << step;
  }
  EXPECT_EQ(policy.observe(end, {{"loss", 1, 1}, {"accuracy", 1, 1}}), std::nullopt);
}

TEST(RangePolicyTest, TellsOfEveryWidthAndWhatCameOfIt) {
  RangePolicy policy(automatic(), kLayers, kPapers);
  const auto changes = run_test(policy);
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].from, "8/8");
  EXPECT_EQ(changes[0].to, "2 and 8/8");
  EXPECT_THAT(changes[0].reason, HasSubstr("8 bits have learned enough"));
  EXPECT_EQ(changes[1].to, "3 and 8/8");
  EXPECT_THAT(changes[1].reason, HasSubstr("2 bits keep 0.3"));
  EXPECT_THAT(changes[1].reason, HasSubstr("of what 8 bits have learned (4 pairs of blocks): too "
                                           "little, "));
  EXPECT_EQ(changes[2].to, "cosine 3-8/8");
  EXPECT_THAT(changes[2].reason, HasSubstr("enough, "));
  EXPECT_THAT(changes[2].reason, HasSubstr(" % of the run"));
}

// That is how reports know the bits of every step.
TEST(RangePolicyTest, TheBitsOfARunFollowFromWhatItTold) {
  RangeTestRecipe test;
  test.upper = 0.9;
  const PrecisionRecipe recipe = automatic(test);
  RangePolicy policy(recipe, kLayers, kPapers);
  const auto changes = run_test(policy);
  const RangePlans plans(recipe, kLayers, kPapers);
  const RangeTest::Phases phases = plans.phases(changes);
  for (Step step = 0; step < 4000; ++step) {
    ASSERT_EQ(plans.decide(phases, step).common, policy.decide(step).common) << step;
  }
}

TEST(RangePolicyTest, WordsOfOtherPoliciesAreNoPhases) {
  const RangePlans plans(automatic(), kLayers, kPapers);
  for (const char* to : {"", "8/8", "cosine 1-8/8", "cosine 3-6/8", "9 and 8/8"}) {
    EXPECT_EQ(plans.phases({{.step = 5, .to = to}}).size(), 1U) << to;
  }
}

TEST(RangePolicyTest, EvaluatesAtTheUpperBoundOrAtTheBitsOfTheStep) {
  using Kind = EvaluationBits::Kind;
  RangePolicy policy(automatic(), kLayers, kPapers);
  EXPECT_EQ(policy.evaluation({Kind::schedule_max}, 0).common, (LayerBits{8, 8, 8}));
  const auto changes = run_test(policy);
  const Step low = changes[0].step + 20;
  EXPECT_EQ(policy.evaluation({Kind::current}, low).common, (LayerBits{2, 2, 8}));
  EXPECT_EQ(policy.evaluation({Kind::schedule_max}, low).common, (LayerBits{8, 8, 8}));
  EXPECT_EQ(policy.evaluation({Kind::fixed, 5}, low).common, (LayerBits{5, 5, 0}));
  EXPECT_EQ(policy.reference().common, (LayerBits{8, 8, 8}));
}

TEST(RangePolicyTest, TheTestHasTheFirstCycleAlone) {
  RangeTestRecipe test;
  test.cycles = 640;
  RangePolicy policy(automatic(test), kLayers, kPapers);
  const auto changes = run_test(policy);
  EXPECT_EQ(policy.test().steps(), 100);
  EXPECT_EQ(changes.back().step, 100);
  EXPECT_EQ(changes.back().to, "cosine 8-8/8");
  EXPECT_THAT(changes.back().reason, HasSubstr("had to end after 100 steps, undecided"));
  EXPECT_EQ(policy.decide(100).common, (LayerBits{8, 8, 8}));
}

TEST(RangePolicyTest, GoesOnFromItsState) {
  RangePolicy whole(automatic(), kLayers, kPapers), resumed(automatic(), kLayers, kPapers);
  run_test(whole);
  resumed.restore(whole.state());
  EXPECT_EQ(resumed.state(), whole.state());
  for (Step step = 0; step < 3000; ++step) {
    ASSERT_EQ(resumed.decide(step).common, whole.decide(step).common) << step;
  }
}

TEST(RangePolicyTest, OverridesWeightsAndErrorsKeepTheirMeaning) {
  PrecisionRecipe recipe = automatic();
  recipe.weight = ScheduleSpec{.min = 4, .max = 4};
  recipe.backward = {.name = "cosine", .min = 6, .max = 12, .cycles = 32};
  recipe.overrides = {{.layers = "conv1", .full_precision = true}};
  RangePolicy policy(recipe, kLayers, kPapers);
  const auto bits_of = [&](const StepBits& bits, const std::string& name) {
    const auto layer = std::ranges::find(kLayers, name, &LayerInfo::name);
    return bits.layers[static_cast<std::size_t>(layer - kLayers.begin())];
  };
  EXPECT_EQ(bits_of(policy.decide(0), "conv1"), LayerBits{});
  EXPECT_EQ(bits_of(policy.decide(0), "layer1.0.conv1"), (LayerBits{4, 8, 6}));
  EXPECT_EQ(bits_of(policy.upper(), "layer1.0.conv1"), (LayerBits{4, 8, 12}));
}

TEST(RangePolicyTest, WidthsSpanAllThatIsTested) {
  const auto policy = make_policy(automatic(), kLayers, kPapers);
  const LayerWidths widths = policy->widths().front();
  EXPECT_EQ(widths.weight.min, 2);
  EXPECT_EQ(widths.activation.max, 8);
  EXPECT_EQ(widths.error.min, 8);
}

TEST(RangePolicyTest, TestsThatMakeNoSenseAreRecipeErrors) {
  RangeTestRecipe test;
  test.from = 8;
  try {
    make_policy(automatic(test), kLayers, kPapers);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::recipe);
    EXPECT_THAT(error.what(),
                HasSubstr("precision.range_test.from: expected less than the 8 bits"));
  }
}

}  // namespace
}  // namespace bitcycle
