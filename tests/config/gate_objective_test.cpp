// The figures of FracTrain's README and released code, and closed forms.

#include "bitcycle/config/gate_objective.h"

#include "bitcycle/network/gates.h"
#include "bitcycle/network/zoo.h"

#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::Each;

const std::vector<PrecisionOption> kCifar = {{3, 6}, {4, 6}, {4, 8}, {6, 8}, {6, 12}};
const std::vector<PrecisionOption> kImageNet = {{3, 6}, {4, 8}, {6, 12}, {8, 16}};

DynamicRecipe with(const std::vector<PrecisionOption>& options, int weight) {
  DynamicRecipe recipe;
  recipe.options = options;
  recipe.weight = weight;
  recipe.target = {3};
  return recipe;
}

BlockWeights equal_blocks(std::size_t number) {
  return {.blocks = std::vector<double>(number, 1.0)};
}

BlockWeights weights_of(const std::string& model) {
  return block_weights(layers_of(gated(make_network(model), 5)));
}

void expect_options_cost(const std::vector<PrecisionOption>& options, int weight,
                         const std::vector<double>& percent) {
  const GateObjective objective(with(options, weight), equal_blocks(18));
  for (std::size_t i = 0; i < options.size(); ++i) {
    EXPECT_NEAR(objective.cp(i), percent[i], 5e-4) << weight << " bits, option " << i;
  }
  EXPECT_EQ(objective.least_cp(), objective.cp(0));
  EXPECT_EQ(objective.most_cp(), objective.cp(options.size() - 1));
}

TEST(GateObjectiveTest, OptionsCostWhatThePapersListsCost) {
  expect_options_cost(kCifar, 4, {1.758, 2.083, 2.604, 3.385, 4.688});
  expect_options_cost(kCifar, 6, {2.344, 2.734, 3.385, 4.297, 5.859});
  expect_options_cost(kCifar, 8, {2.930, 3.385, 4.167, 5.208, 7.031});
  expect_options_cost(kImageNet, 6, {2.344, 3.385, 5.859, 8.854});
  expect_options_cost({{8, 8}, {32, 32}}, 8, {6.25, 100 * (256 + 256 + 1024) / 3072.0});
}

TEST(GateObjectiveTest, ACostIsThreeProducts) {
  const OptionCost cost = option_cost({3, 6}, 4);
  EXPECT_EQ(cost.forward, 12.0 / 1024);
  EXPECT_EQ(cost.error, 24.0 / 1024);
  EXPECT_EQ(cost.weight_gradient, 18.0 / 1024);
  EXPECT_EQ(option_cost({32, 32}, 32).total(), 3);
}

TEST(GateObjectiveTest, SkippingCostsNothing) {
  EXPECT_EQ(option_cost({0, 0}, 4).total(), 0);
  const GateObjective objective(with({{0, 0}, {6, 12}}, 4), equal_blocks(2));
  EXPECT_EQ(objective.least_cp(), 0);
  EXPECT_DOUBLE_EQ(objective.cp({{6, 2}, {8, 0}}), objective.most_cp() / 8);
}

// A batch of any size: cp is that of its samples, however many they are.
TEST(GateObjectiveTest, CpIsTheMeanOverSamplesAndBlocks) {
  const GateObjective objective(with(kCifar, 4), equal_blocks(2));
  const double expected = (3 * objective.cp(0) + objective.cp(4) + 4 * objective.cp(2)) / 8;
  EXPECT_DOUBLE_EQ(objective.cp({{3, 0, 0, 0, 1}, {0, 0, 4, 0, 0}}), expected);
  EXPECT_DOUBLE_EQ(objective.cp({{30, 0, 0, 0, 10}, {0, 0, 40, 0, 0}}), expected);
}

TEST(GateObjectiveTest, BlocksOfResidualNetworksCountAlike) {
  EXPECT_EQ(weights_of("cifar_resnet38").blocks.size(), 18U);
  EXPECT_EQ(weights_of("cifar_resnet74").blocks.size(), 36U);
  EXPECT_EQ(weights_of("resnet18").blocks.size(), 8U);
  EXPECT_THAT(weights_of("cifar_resnet38").blocks, Each(1.0));
  EXPECT_EQ(weights_of("cifar_resnet38").depthwise, 0);
}

TEST(GateObjectiveTest, BlocksOfMobileNetCountTheirOperations) {
  const BlockWeights weights = weights_of("cifar_mobilenet_v2");
  EXPECT_EQ(weights.blocks.size(), 17U);
  EXPECT_EQ(weights.sum(), 155.648e6);
  EXPECT_NEAR(weights.depthwise, 11.76e6, 0.005e6);
  EXPECT_DOUBLE_EQ(weights.mean(), 155.648e6 / 17);
}

// The numerator has the depthwise layers at 8-bit activations, 16-bit errors and the weights' bits,
// the denominator has them in full precision.
TEST(GateObjectiveTest, DepthwiseLayersAreAConstant) {
  const BlockWeights weights = weights_of("cifar_mobilenet_v2");
  const GateObjective objective(with(kCifar, 4), weights);
  const double constant = weights.depthwise * (8 * 4 + 16 * 4 + 8 * 16) / 1024;
  const double full = 3 * (weights.sum() + weights.depthwise);
  for (std::size_t i = 0; i < kCifar.size(); ++i) {
    const double gated = weights.sum() * option_cost(kCifar[i], 4).total();
    EXPECT_NEAR(objective.cp(i), 100 * (gated + constant) / full, 1e-12);
  }
  // Options that are what depthwise layers have, and 32-bit ones.
  EXPECT_DOUBLE_EQ(GateObjective(with({{8, 16}, {3, 6}}, 4), weights).cp(0),
                   GateObjective(with({{8, 16}, {3, 6}}, 4), equal_blocks(1)).cp(0));
}

// All samples at cp 3, which no option has: half of them at 2.5, half at 3.5, so to speak.
double regulariser_at(double cp, std::size_t blocks, double batch) {
  const GateObjective objective(with(kCifar, 4), equal_blocks(blocks));
  const double dear = (cp - objective.cp(0)) / (objective.cp(4) - objective.cp(0));
  const ChoiceCounts counts(blocks, {batch * (1 - dear), 0, 0, 0, batch * dear});
  EXPECT_NEAR(objective.cp(counts), cp, 1e-12);
  return objective.regulariser(counts);
}

TEST(GateObjectiveTest, TheRegulariserIsABatchSum) {
  EXPECT_NEAR(regulariser_at(3, 18, 128), 0.207, 5e-4);  // ResNet-38
  EXPECT_NEAR(regulariser_at(3, 36, 128), 0.415, 5e-4);  // ResNet-74
  EXPECT_NEAR(regulariser_at(3, 8, 256), 0.184, 5e-4);   // ResNet-18
  const double cheapest = 100.0 * 54 / 3072;
  EXPECT_NEAR(regulariser_at(cheapest, 18, 128), 0.122, 6e-4);
  EXPECT_NEAR(regulariser_at(cheapest, 36, 128), 0.243, 6e-4);
}

TEST(GateObjectiveTest, TheRegulariserIsInUnitsOfTheMeanBlock) {
  BlockWeights weights{.blocks = {1, 3}};
  const GateObjective one(with(kCifar, 4), weights);
  EXPECT_DOUBLE_EQ(one.coefficient(), 1e-3 / 2);
  weights.blocks = {10, 30};
  const GateObjective ten(with(kCifar, 4), weights);
  const ChoiceCounts counts = {{1, 0, 0, 0, 2}, {0, 3, 0, 0, 0}};
  EXPECT_DOUBLE_EQ(one.regulariser(counts), ten.regulariser(counts));
  EXPECT_DOUBLE_EQ(one.regulariser(counts),
                   1e-3 / 2 * (one.costs()[0] + 2 * one.costs()[4] + 3 * 3 * one.costs()[1]));
}

TEST(GateObjectiveTest, WithoutABandTheSignFlipsAtTheTarget) {
  DynamicRecipe recipe = with(kCifar, 4);
  for (const auto band : {DynamicRecipe::Band::soft, DynamicRecipe::Band::flat}) {
    recipe.band = band;
    EXPECT_EQ(steering(recipe, 2.99, 3), -1);
    EXPECT_EQ(steering(recipe, 3, 3), 1);
    EXPECT_EQ(steering(recipe, 4, 3), 1);
  }
}

TEST(GateObjectiveTest, ASoftBandSteersGentlyOnBothSides) {
  DynamicRecipe recipe = with(kCifar, 4);
  recipe.band_width = 0.5;
  EXPECT_EQ(steering(recipe, 2.49, 3), -1);
  EXPECT_EQ(steering(recipe, 2.5, 3), -0.1);
  EXPECT_EQ(steering(recipe, 2.99, 3), -0.1);
  EXPECT_EQ(steering(recipe, 3, 3), 0.1);
  EXPECT_EQ(steering(recipe, 3.49, 3), 0.1);
  EXPECT_EQ(steering(recipe, 3.5, 3), 1);
}

TEST(GateObjectiveTest, AFlatBandLeavesTheCostAloneAboveTheTarget) {
  DynamicRecipe recipe = with(kCifar, 4);
  recipe.band = DynamicRecipe::Band::flat;
  recipe.band_width = 0.5;
  EXPECT_EQ(steering(recipe, 2.99, 3), -1);
  EXPECT_EQ(steering(recipe, 3, 3), 0);
  EXPECT_EQ(steering(recipe, 3.49, 3), 0);
  EXPECT_EQ(steering(recipe, 3.5, 3), 1);
}

TEST(GateObjectiveTest, AdaBetaKeepsTheRegulariserBelowATenthOfTheCrossEntropy) {
  EXPECT_EQ(ada_beta_factor(0.2, 2.5), 1);
  EXPECT_EQ(ada_beta_factor(0.25, 2.5), 1);
  EXPECT_DOUBLE_EQ(ada_beta_factor(0.5, 2.5) * 0.5, 0.25);
  EXPECT_EQ(ada_beta_factor(0.5, 0), 0);
  EXPECT_EQ(ada_beta_factor(0, 0), 1);
}

}  // namespace
}  // namespace bitcycle
