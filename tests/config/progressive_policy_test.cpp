#include "bitcycle/config/progressive_policy.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/make_policy.h"
#include "bitcycle/network/zoo.h"

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<LayerInfo> kLayers = layers_of(make_network("cifar_resnet8"));

PrecisionRecipe stages(const ProgressiveRecipe& progressive) {
  PrecisionRecipe recipe;
  recipe.progressive = progressive;
  return recipe;
}

ProgressiveRecipe papers() {
  ProgressiveRecipe recipe;
  recipe.forward = {3, 4, 6, 8};
  recipe.backward = {6, 6, 8, 8};
  return recipe;
}

// Two stages; a period is two steps, a window two periods.
ProgressiveRecipe small() {
  ProgressiveRecipe recipe;
  recipe.forward = {4, 8};
  recipe.backward = {6, 8};
  recipe.epsilon = 0.5;
  recipe.window = 2;
  recipe.period = 2;
  return recipe;
}

MetricSums loss(double value) {
  return {{"loss", value, 1.0}, {"accuracy", 0, 1}};
}

std::vector<StageChange> train(PrecisionPolicy& policy, Step from, Step to,
                               const std::function<double(Step)>& loss_at) {
  std::vector<StageChange> changes;
  for (Step step = from; step < to; ++step) {
    const auto change = policy.observe(step, loss(loss_at(step)));
    if (change) changes.push_back(*change);
  }
  return changes;
}

// The indicator's test vector 0.30 + 1.70 exp(-t / 8), as the mean of an epoch of three steps.
double falling(Step step) {
  const double t = static_cast<double>(step / 3 + 1);
  return 0.30 + 1.70 * std::exp(-t / 8.0) + (static_cast<double>(step % 3) - 1) / 8;
}

TEST(ProgressivePolicyTest, RaisesTheBitsWhereTheMeanLossOfTheEpochsHasSettled) {
  ProgressivePolicy policy(stages(papers()), kLayers, {480, 3});
  EXPECT_EQ(policy.decide(0).common, (LayerBits{3, 3, 6}));
  const auto changes = train(policy, 0, 480, falling);
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].step, 24 * 3);
  EXPECT_EQ(changes[1].step, 33 * 3);
  EXPECT_EQ(changes[2].step, 43 * 3);
  EXPECT_EQ(changes[0].from, "3/6");
  EXPECT_EQ(changes[0].to, "4/6");
  EXPECT_EQ(changes[2].to, "8/8");
  EXPECT_NEAR(changes[0].difference.value(), 0.045341, 5e-7);
  EXPECT_EQ(changes[0].threshold, 0.05);
  EXPECT_EQ(changes[0].reason, "the loss has settled: it moves by 0.04534, the threshold is 0.05");
}

TEST(ProgressivePolicyTest, WhatWasDecidedAtAnEarlierStepStaysDecided) {
  ProgressivePolicy policy(stages(papers()), kLayers, {480, 3});
  train(policy, 0, 480, falling);
  const auto weight_bits = [&](Step step) { return policy.decide(step).common.weight; };
  EXPECT_EQ(weight_bits(71), 3);
  EXPECT_EQ(weight_bits(72), 4);
  EXPECT_EQ(weight_bits(98), 4);
  EXPECT_EQ(weight_bits(99), 6);
  EXPECT_EQ(weight_bits(479), 8);
}

TEST(ProgressivePolicyTest, EvaluatesAtTheStageOfTheStepOrAtTheLastStage) {
  using Kind = EvaluationBits::Kind;
  ProgressivePolicy policy(stages(papers()), kLayers, {480, 3});
  train(policy, 0, 75, falling);
  EXPECT_EQ(policy.evaluation({Kind::current}, 71).common, (LayerBits{3, 3, 6}));
  EXPECT_EQ(policy.evaluation({Kind::current}, 74).common, (LayerBits{4, 4, 6}));
  EXPECT_EQ(policy.evaluation({Kind::schedule_max}, 74).common, (LayerBits{8, 8, 8}));
  EXPECT_EQ(policy.evaluation({Kind::fixed, 5}, 74).common, (LayerBits{5, 5, 0}));
  EXPECT_EQ(policy.upper().common, (LayerBits{8, 8, 8}));
}

TEST(ProgressivePolicyTest, GoesOnFromItsStateAtEveryStep) {
  ProgressivePolicy whole(stages(papers()), kLayers, {480, 3});
  PolicyState carried = whole.state();
  for (Step step = 0; step < 150; ++step) {
    ProgressivePolicy resumed(stages(papers()), kLayers, {480, 3});
    resumed.restore(carried);
    const auto expected = train(whole, step, step + 1, falling);
    const auto found = train(resumed, step, step + 1, falling);
    ASSERT_EQ(found.size(), expected.size()) << step;
    carried = resumed.state();
    ASSERT_EQ(carried, whole.state()) << step;
    ASSERT_EQ(resumed.decide(71).common, whole.decide(71).common);
  }
  EXPECT_EQ(whole.decide(150).common.weight, 8);
}

TEST(ProgressivePolicyTest, StatesOfOtherPoliciesAreRefused) {
  ProgressivePolicy policy(stages(small()), kLayers, {100, 10});
  const auto complaint = [&](const std::string& name, const std::vector<double>& values) {
    PolicyState state = policy.state();
    state[name] = values;
    try {
      ProgressivePolicy(stages(small()), kLayers, {100, 10}).restore(state);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::checkpoint);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(complaint("stage_starts", {7}), "accepted");
  EXPECT_THAT(complaint("stage_starts", {7, 9}), HasSubstr("at most 1 turning points, found 2"));
  EXPECT_THAT(complaint("stage_starts", {0.5}), HasSubstr("expected steps that rise"));
  EXPECT_THAT(complaint("normaliser", {}), HasSubstr("a sum and 1 counts as \"normaliser\""));
  EXPECT_THAT(complaint("period", {1, -1, 1}), HasSubstr("a sum and 2 counts as \"period\""));
  EXPECT_THROW(policy.restore({}), Error);
}

TEST(ProgressivePolicyTest, ADeadlineEndsAStageWhoseLossStillMoves) {
  ProgressiveRecipe recipe = small();
  recipe.deadlines = {0.37};
  const auto steep = [](Step step) { return std::exp(static_cast<double>(step)); };
  ProgressivePolicy policy(stages(recipe), kLayers, {100, 10});
  const auto changes = train(policy, 0, 100, steep);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].step, 37);
  EXPECT_THAT(changes[0].reason, HasSubstr("its deadline has come"));
  EXPECT_EQ(policy.decide(36).common.weight, 4);
  EXPECT_EQ(policy.decide(37).common.weight, 8);
}

TEST(ProgressivePolicyTest, ADeadlineChangesNothingWhereTheLossSettlesInTime) {
  ProgressiveRecipe recipe = small();
  recipe.deadlines = {0.9};
  ProgressivePolicy policy(stages(recipe), kLayers, {100, 10});
  const auto changes = train(policy, 0, 100, [](Step) { return 1.0; });
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].step, 4);
  EXPECT_THAT(changes[0].reason, HasSubstr("the loss has settled"));
}

// Two periods at 2, 2 + ln 1.4: their exponentials differ by 0.4 of the first, 1/3 of their mean.
TEST(ProgressivePolicyTest, MayListenToThePerplexity) {
  const auto rising = [](Step step) { return step < 2 ? 2.0 : 2.0 + std::log(1.4); };
  ProgressiveRecipe recipe = small();
  recipe.loss = IndicatorRecipe::Loss::perplexity;
  ProgressivePolicy policy(stages(recipe), kLayers, {100, 10});
  const auto changes = train(policy, 0, 4, rising);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_NEAR(changes[0].difference.value(), 1.0 / 3, 1e-12);
}

TEST(ProgressivePolicyTest, APerplexityThatOverflowsSaysNothing) {
  ProgressiveRecipe recipe = small();
  recipe.loss = IndicatorRecipe::Loss::perplexity;
  ProgressivePolicy policy(stages(recipe), kLayers, {100, 10});
  EXPECT_TRUE(train(policy, 0, 40, [](Step) { return 1e4; }).empty());
  EXPECT_EQ(train(policy, 40, 44, [](Step) { return 1.0; }).size(), 1U);
}

TEST(ProgressivePolicyTest, OverridesAndFloatLayersKeepTheirMeaning) {
  PrecisionRecipe recipe = stages(small());
  recipe.overrides = {{.layers = "conv1", .full_precision = true},
                      {.layers = "layer1.*", .weight = ScheduleSpec{.min = 2, .max = 2}}};
  const auto policy = make_policy(recipe, kLayers, {100, 10});
  const auto bits_of = [&](const StepBits& bits, const std::string& name) {
    const auto layer = std::ranges::find(kLayers, name, &LayerInfo::name);
    return bits.layers[static_cast<std::size_t>(layer - kLayers.begin())];
  };
  EXPECT_EQ(bits_of(policy->decide(0), "conv1"), LayerBits{});
  EXPECT_EQ(bits_of(policy->decide(0), "layer1.0.conv1"), (LayerBits{2, 4, 6}));
  EXPECT_EQ(bits_of(policy->upper(), "layer1.0.conv1"), (LayerBits{2, 8, 8}));
  EXPECT_EQ(bits_of(policy->upper(), "fc"), LayerBits{});
}

TEST(ProgressivePolicyTest, WidthsSpanTheStages) {
  ProgressiveRecipe recipe = papers();
  recipe.forward.back() = 0;
  const ProgressivePolicy policy(stages(recipe), kLayers, {100, 10});
  const LayerWidths widths = policy.widths().front();
  EXPECT_EQ(widths.weight.min, 3);
  EXPECT_EQ(widths.weight.max, 6);
  EXPECT_TRUE(widths.weight.has_float);
  EXPECT_EQ(widths.error.min, 6);
  EXPECT_EQ(widths.error.max, 8);
  EXPECT_EQ(policy.upper().common, LayerBits{});
}

TEST(ProgressivePolicyTest, FewerTurningPointsLeaveTheLastStagesOut) {
  ProgressiveRecipe recipe = papers();
  recipe.turning_points = 1;
  EXPECT_THAT(stages_of(recipe), ElementsAre(LayerBits{3, 3, 6}, LayerBits{4, 4, 6}));
  EXPECT_EQ(ProgressivePolicy(stages(recipe), kLayers, {100, 10}).upper().common.weight, 4);
}

TEST(ProgressivePolicyTest, StagesThatMakeNoSenseAreRecipeErrors) {
  ProgressiveRecipe recipe = papers();
  recipe.turning_points = 4;
  try {
    make_policy(stages(recipe), kLayers, {100, 10});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::recipe);
    EXPECT_THAT(error.what(), HasSubstr("precision.progressive.turning_points: expected 1 to 3"));
  }
}

}  // namespace
}  // namespace bitcycle
