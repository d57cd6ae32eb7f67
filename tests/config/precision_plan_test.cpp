#include "bitcycle/config/precision_plan.h"

#include "bitcycle/base/error.h"
#include "bitcycle/network/zoo.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

const std::vector<LayerInfo> kLayers = {{.name = "conv1"},
                                        {.name = "layer1.0.conv1"},
                                        {.name = "layer1.0.conv2", .tags = {"depthwise"}},
                                        {.name = "fc", .precision = LayerPrecision::full}};

PrecisionRecipe cyclic_recipe() {
  PrecisionRecipe recipe;
  recipe.forward = {.name = "CR", .min = 3, .max = 8, .cycles = 1};
  recipe.backward = {.min = 6, .max = 6};
  return recipe;
}

TEST(PrecisionPlanTest, LayersFollowTheScheduleAndFloatLayersDoNot) {
  const PrecisionPlan plan(cyclic_recipe(), kLayers, {8, 4});
  const auto first = plan.decide(0).layers, last = plan.decide(7).layers;
  EXPECT_EQ(first[0], (LayerBits{3, 3, 6}));
  EXPECT_EQ(last[1], (LayerBits{8, 8, 6}));
  EXPECT_EQ(first[3], LayerBits{});
  EXPECT_EQ(plan.decide(0).common, (LayerBits{3, 3, 6}));
  EXPECT_EQ(plan.upper().common, (LayerBits{8, 8, 6}));
}

TEST(PrecisionPlanTest, WeightsAndActivationsMayDiffer) {
  PrecisionRecipe recipe = cyclic_recipe();
  recipe.weight = ScheduleSpec{.min = 4, .max = 4};
  EXPECT_EQ(PrecisionPlan(recipe, kLayers, {8, 4}).decide(0).layers[0], (LayerBits{4, 3, 6}));
  recipe.activation = ScheduleSpec{.min = 0, .max = 0};
  EXPECT_EQ(PrecisionPlan(recipe, kLayers, {8, 4}).decide(0).layers[0], (LayerBits{4, 0, 6}));
}

TEST(PrecisionPlanTest, FloatForwardMeansFloatErrors) {
  PrecisionRecipe recipe;
  recipe.forward = {.min = 0, .max = 0};
  EXPECT_EQ(PrecisionPlan(recipe, kLayers, {8, 4}).decide(0).layers[0], LayerBits{});
}

TEST(PrecisionPlanTest, PerEpochAdvancesOnceAnEpoch) {
  PrecisionRecipe recipe = cyclic_recipe();
  recipe.per = PrecisionRecipe::Per::epoch;
  const PrecisionPlan plan(recipe, kLayers, {50, 10});  // five epochs: 3 3 5 6 8 (CPT, T = 5)
  const int expected[] = {3, 3, 5, 6, 8};
  for (Step step = 0; step < 50; ++step) {
    EXPECT_EQ(plan.decide(step).common.weight, expected[step / 10]) << step;
  }
}

TEST(PrecisionPlanTest, TheLastMatchingOverrideWins) {
  PrecisionRecipe recipe = cyclic_recipe();
  recipe.overrides = {{.layers = "layer1.*", .full_precision = true},
                      {.layers = "@depthwise",
                       .forward = ScheduleSpec{.min = 8, .max = 8},
                       .backward = ScheduleSpec{.min = 16, .max = 16}}};
  const auto bits = PrecisionPlan(recipe, kLayers, {8, 4}).decide(0).layers;
  EXPECT_EQ(bits[0], (LayerBits{3, 3, 6}));
  EXPECT_EQ(bits[1], LayerBits{});
  EXPECT_EQ(bits[2], (LayerBits{8, 8, 16}));
}

TEST(PrecisionPlanTest, AnOverrideThatFitsNothingIsAnError) {
  PrecisionRecipe recipe = cyclic_recipe();
  recipe.overrides = {{.layers = "layer9.*", .full_precision = true}};
  EXPECT_THROW(PrecisionPlan(recipe, kLayers, {8, 4}), Error);
}

TEST(PrecisionPlanTest, EvaluationBitsAreStatedNotAccidental) {
  PrecisionRecipe recipe = cyclic_recipe();
  recipe.overrides = {{.layers = "conv1", .forward = ScheduleSpec{.min = 4, .max = 4}}};
  const PrecisionPlan plan(recipe, kLayers, {8, 4});
  EXPECT_EQ(plan.evaluation(parse_evaluation_bits("max"), 0).layers[1].weight, 8);
  EXPECT_EQ(plan.evaluation(parse_evaluation_bits("max"), 0).layers[0].weight, 4);
  EXPECT_EQ(plan.evaluation(parse_evaluation_bits("current"), 0).layers[1].weight, 3);
  EXPECT_EQ(plan.evaluation(parse_evaluation_bits("5"), 0).layers[1].weight, 5);
  EXPECT_EQ(plan.evaluation(parse_evaluation_bits("5"), 0).layers[0].weight, 4);
  EXPECT_EQ(plan.evaluation(parse_evaluation_bits("5"), 0).layers[3], LayerBits{});
  EXPECT_EQ(plan.evaluation(parse_evaluation_bits("fp"), 0).layers[0], LayerBits{});
}

TEST(PrecisionPlanTest, EvaluationBitsReadNumbersAndWordsOnly) {
  EXPECT_EQ(parse_evaluation_bits("32").bits, 32);
  EXPECT_EQ(parse_evaluation_bits("0").kind, EvaluationBits::Kind::full);
  for (const char* wrong : {"", "33", "-3", "eight", "8 ", "3,4"}) {
    EXPECT_THROW(parse_evaluation_bits(wrong), Error) << wrong;
  }
}

TEST(PrecisionPlanTest, PatternsKnowStarAndQuestionMark) {
  const LayerInfo layer{.name = "layer1.0.conv2"};
  for (const char* fits :
       {"layer1.0.conv2", "*", "layer1.*", "*conv2", "layer?.0.conv?", "*.0.*"}) {
    EXPECT_TRUE(matches(layer, fits)) << fits;
  }
  for (const char* not_fits : {"layer2.*", "layer1", "conv2", "?", "@depthwise", ""}) {
    EXPECT_FALSE(matches(layer, not_fits)) << not_fits;
  }
}

TEST(PrecisionPlanTest, ZooNetworksKeepTheirFloatLayers) {
  const auto layers = layers_of(make_network("resnet18"));
  EXPECT_EQ(layers.front().name, "conv1");
  EXPECT_EQ(layers.front().precision, LayerPrecision::full);
  EXPECT_EQ(layers.back().precision, LayerPrecision::full);
  EXPECT_EQ(layers[1].precision, LayerPrecision::scheduled);
}

}  // namespace
}  // namespace bitcycle
