#include "bitcycle/config/dynamic_policy.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/make_policy.h"
#include "bitcycle/network/gates.h"
#include "bitcycle/network/zoo.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<LayerInfo> gated_layers(const std::string& model) {
  return layers_of(gated(make_network(model), 3));
}

DynamicRecipe dynamic(const std::vector<double>& targets = {3}) {
  DynamicRecipe recipe;
  recipe.options = {{3, 6}, {6, 12}, {6, 8}};
  recipe.weight = 4;
  recipe.target = targets;
  return recipe;
}

// A period is two steps, a window two periods.
DynamicRecipe staged() {
  DynamicRecipe recipe = dynamic({1.5, 2, 2.5});
  recipe.epsilon = 0.5;
  recipe.window = 2;
  recipe.period = 2;
  return recipe;
}

PrecisionRecipe recipe_of(const DynamicRecipe& dynamic) {
  PrecisionRecipe recipe;
  recipe.dynamic = dynamic;
  return recipe;
}

DynamicPolicy policy_of(const DynamicRecipe& recipe, const std::string& model = "cifar_resnet8") {
  return {recipe_of(recipe), gated_layers(model), {100, 10}};
}

LayerBits bits_of(const PrecisionPolicy& policy, const StepBits& bits, const std::string& name) {
  const auto layer = std::ranges::find(policy.layers(), name, &LayerInfo::name);
  return bits.layers[static_cast<std::size_t>(layer - policy.layers().begin())];
}

MetricSums losses(double cross_entropy, double total) {
  return {{"loss", cross_entropy, 1.0}, {"total_loss", total, 1.0}};
}

TEST(DynamicPolicyTest, GatedLayersHaveTheDearestOptionsBitsAndOthersAreInFloat) {
  const DynamicPolicy policy = policy_of(dynamic());
  const StepBits bits = policy.decide(7);
  ASSERT_EQ(bits.layers.size(), policy.layers().size());
  EXPECT_EQ(bits.common, (LayerBits{4, 6, 12}));
  EXPECT_EQ(bits_of(policy, bits, "layer1.0.conv1"), (LayerBits{4, 6, 12}));
  EXPECT_EQ(bits_of(policy, bits, "layer2.0.downsample.0"), (LayerBits{4, 6, 12}));
  for (const char* name : {"conv1", "fc", "gates.head"}) {
    EXPECT_EQ(bits_of(policy, bits, name), LayerBits{}) << name;
  }
}

LayerBits counted_of(const PrecisionPolicy& policy, const StepBits& bits, const std::string& name) {
  return bits_of(policy, {.layers = bits.counted}, name);
}

TEST(DynamicPolicyTest, WhatGatesMadeFloatCountsAsFloatAndTheRestAsInAStaticNetwork) {
  const DynamicPolicy small = policy_of(dynamic());
  EXPECT_EQ(counted_of(small, small.decide(0), "conv1"), LayerBits{});
  EXPECT_EQ(counted_of(small, small.decide(0), "gates.ih"), LayerBits{});
  EXPECT_EQ(counted_of(small, small.decide(0), "fc"), (LayerBits{8, 8, 8}));
  EXPECT_EQ(counted_of(small, small.decide(0), "layer1.0.conv1"), (LayerBits{4, 6, 12}));
  const DynamicPolicy large = policy_of(dynamic(), "resnet18");
  EXPECT_EQ(counted_of(large, large.decide(0), "conv1"), (LayerBits{8, 8, 8}));
}

TEST(DynamicPolicyTest, SavingsAreMeasuredAgainstStaticEightBits) {
  const DynamicPolicy policy = policy_of(dynamic(), "cifar_mobilenet_v2");
  const StepBits bits = policy.reference();
  EXPECT_EQ(bits.common, (LayerBits{8, 8, 8}));
  for (const char* name : {"conv1", "conv2", "layers.3.conv1", "layers.3.conv2"}) {
    EXPECT_EQ(bits_of(policy, bits, name), (LayerBits{8, 8, 8})) << name;
  }
  EXPECT_EQ(bits_of(policy, bits, "linear"), LayerBits{});
  EXPECT_EQ(counted_of(policy, bits, "linear"), (LayerBits{8, 8, 8}));
}

TEST(DynamicPolicyTest, ProjectionsOfTheImageNetNetworksAreInFloat) {
  const DynamicPolicy policy = policy_of(dynamic(), "resnet18");
  EXPECT_EQ(bits_of(policy, policy.decide(0), "layer2.0.downsample.0"), LayerBits{});
  EXPECT_EQ(bits_of(policy, policy.decide(0), "layer2.0.conv1"), (LayerBits{4, 6, 12}));
}

TEST(DynamicPolicyTest, DepthwiseLayersAreHeldAtTheirOwnBits) {
  const DynamicPolicy policy = policy_of(dynamic(), "cifar_mobilenet_v2");
  const StepBits bits = policy.decide(0);
  EXPECT_EQ(bits_of(policy, bits, "layers.3.conv2"), (LayerBits{4, 8, 16}));
  EXPECT_EQ(bits_of(policy, bits, "layers.3.conv1"), (LayerBits{4, 6, 12}));
  EXPECT_EQ(bits_of(policy, bits, "conv2"), LayerBits{});
}

TEST(DynamicPolicyTest, WidthsSpanTheOptionsThatDoNotSkip) {
  DynamicRecipe recipe = dynamic();
  recipe.options.push_back({0, 0});
  const DynamicPolicy policy = policy_of(recipe);
  const auto widths = policy.widths();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (policy.layers()[i].block < 0) {
      EXPECT_TRUE(widths[i].activation.has_float);
      continue;
    }
    EXPECT_EQ(widths[i].weight.min, 4);
    EXPECT_EQ(widths[i].weight.max, 4);
    EXPECT_EQ(widths[i].activation.min, 3);
    EXPECT_EQ(widths[i].activation.max, 6);
    EXPECT_EQ(widths[i].error.min, 6);
    EXPECT_EQ(widths[i].error.max, 12);
    EXPECT_FALSE(widths[i].error.has_float);
  }
}

TEST(DynamicPolicyTest, EvaluatesAsTheGatesChooseUnlessTheBitsAreGiven) {
  using Kind = EvaluationBits::Kind;
  const DynamicPolicy policy = policy_of(dynamic());
  EXPECT_EQ(policy.evaluation({Kind::current}, 3).layers, policy.decide(3).layers);
  EXPECT_EQ(policy.evaluation({Kind::schedule_max}, 3).layers, policy.decide(3).layers);
  const StepBits fixed = policy.evaluation({Kind::fixed, 5}, 3);
  EXPECT_EQ(bits_of(policy, fixed, "layer1.0.conv1"), (LayerBits{5, 5, 0}));
  EXPECT_EQ(bits_of(policy, fixed, "conv1"), LayerBits{});
  for (const LayerBits& bits : policy.evaluation({Kind::full}, 3).layers) {
    EXPECT_EQ(bits, LayerBits{});
  }
}

TEST(DynamicPolicyTest, OneTargetHoldsThroughoutAndNeedsNoState) {
  DynamicPolicy policy = policy_of(dynamic({3.25}));
  for (Step step = 0; step < 100; ++step) {
    EXPECT_EQ(policy.target(step), 3.25);
    EXPECT_FALSE(policy.observe(step, losses(1, 1)));
  }
  EXPECT_THAT(policy.state(), IsEmpty());
  policy.restore({});
}

TEST(DynamicPolicyTest, TheTargetRisesWhereTheLossHasSettled) {
  DynamicPolicy policy = policy_of(staged());
  std::vector<StageChange> changes;
  for (Step step = 0; step < 20; ++step) {
    if (const auto change = policy.observe(step, losses(1, 1))) changes.push_back(*change);
  }
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].step, 4);
  EXPECT_EQ(changes[0].from, "cp 1.5 %");
  EXPECT_EQ(changes[0].to, "cp 2 %");
  EXPECT_EQ(changes[1].to, "cp 2.5 %");
  EXPECT_EQ(policy.target(3), 1.5);
  EXPECT_EQ(policy.target(4), 2);
  EXPECT_EQ(policy.target(99), 2.5);
}

// Of the two losses one settles and the other doubles every period.
TEST(DynamicPolicyTest, ListensToTheCrossEntropyOrToTheTotalLoss) {
  const auto changes = [](IndicatorRecipe::Loss loss, double base, double total_base) {
    DynamicRecipe recipe = staged();
    recipe.loss = loss;
    DynamicPolicy policy = policy_of(recipe);
    int count = 0;
    for (Step step = 0; step < 20; ++step) {
      const auto power = static_cast<double>(step / 2);
      const MetricSums sums = losses(std::pow(base, power), std::pow(total_base, power));
      count += policy.observe(step, sums).has_value();
    }
    return count;
  };
  using Loss = IndicatorRecipe::Loss;
  EXPECT_EQ(changes(Loss::cross_entropy, 1, 4), 2);
  EXPECT_EQ(changes(Loss::cross_entropy, 4, 1), 0);
  EXPECT_EQ(changes(Loss::total, 1, 4), 0);
  EXPECT_EQ(changes(Loss::total, 4, 1), 2);
}

TEST(DynamicPolicyTest, GoesOnFromItsState) {
  DynamicPolicy whole = policy_of(staged());
  for (Step step = 0; step < 12; ++step) {
    DynamicPolicy resumed = policy_of(staged());
    resumed.restore(whole.state());
    EXPECT_EQ(resumed.target(step), whole.target(step)) << step;
    const auto expected = whole.observe(step, losses(1, 1));
    const auto found = resumed.observe(step, losses(1, 1));
    ASSERT_EQ(found.has_value(), expected.has_value()) << step;
    ASSERT_EQ(resumed.state(), whole.state()) << step;
  }
  EXPECT_EQ(whole.target(12), 2.5);
  EXPECT_THROW(whole.restore({}), Error);
}

std::string complaint(const PrecisionRecipe& recipe, const std::vector<LayerInfo>& layers) {
  try {
    make_policy(recipe, layers, {100, 10});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::recipe);
    return error.what();
  }
  return "accepted";
}

TEST(DynamicPolicyTest, OverridesMayConcernWhatNoGateChooses) {
  const std::vector<LayerInfo> layers = gated_layers("cifar_resnet8");
  PrecisionRecipe recipe = recipe_of(dynamic());
  const ScheduleSpec eight{.min = 8, .max = 8};
  recipe.overrides = {{.layers = "conv1", .forward = eight, .backward = eight}};
  const auto policy = make_policy(recipe, layers, {100, 10});
  EXPECT_EQ(bits_of(*policy, policy->decide(0), "conv1"), (LayerBits{8, 8, 8}));
  recipe.overrides = {{.layers = "layer2.*", .forward = eight}};
  EXPECT_THAT(complaint(recipe, layers), HasSubstr("fits layer2.0.conv1, whose bits are not to be "
                                                   "overridden: a gate chooses them"));
  recipe.overrides = {{.layers = "gates.*", .forward = eight}};
  EXPECT_THAT(complaint(recipe, layers), HasSubstr("gates are in float"));
}

TEST(DynamicPolicyTest, AModelWithoutGatesIsARecipeError) {
  EXPECT_THAT(complaint(recipe_of(dynamic()), layers_of(make_network("cifar_resnet8"))),
              HasSubstr("precision.dynamic: expected a model with gates"));
}

TEST(DynamicPolicyTest, WhatMakesNoSenseIsARecipeError) {
  const auto with = [](auto member, auto value) {
    DynamicRecipe recipe = dynamic();
    recipe.*member = value;
    return complaint(recipe_of(recipe), gated_layers("cifar_resnet8"));
  };
  using Options = std::vector<PrecisionOption>;
  using Targets = std::vector<double>;
  EXPECT_THAT(with(&DynamicRecipe::options, Options{{3, 33}, {4, 4}}),
              HasSubstr("precision.dynamic.options: expected widths from 1 to 32, found [3, 33]"));
  EXPECT_THAT(with(&DynamicRecipe::weight, 0), HasSubstr("dynamic.weight: expected the bits"));
  EXPECT_THAT(with(&DynamicRecipe::target, Targets{0}), HasSubstr("above 0 and up to 100"));
  EXPECT_THAT(with(&DynamicRecipe::target, Targets{101}), HasSubstr("found 101"));
  EXPECT_THAT(with(&DynamicRecipe::beta, -1), HasSubstr("dynamic.beta: expected a number of at"));
  EXPECT_THAT(with(&DynamicRecipe::band_width, -0.5), HasSubstr("dynamic.band_width"));
}

}  // namespace
}  // namespace bitcycle
