// The trainer's meter against the cost model, asked layer by layer for the bits that the recipe
// says.

#include "bitcycle/train/cost_meter.h"

#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/network/gates.h"
#include "bitcycle/network/zoo.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

ScheduleSpec width(int bits) {
  return {.min = bits, .max = bits};
}

// ResNet-18 keeps its first convolution, its projections and its classifier in float.
const Network& network() {
  static const Network resnet = make_network("resnet18");
  return resnet;
}

PrecisionRecipe recipe_with(std::vector<LayerOverride> overrides) {
  PrecisionRecipe recipe;
  recipe.forward = {.name = "CR", .min = 4, .max = 8, .cycles = 1};
  recipe.backward = width(8);
  recipe.overrides = std::move(overrides);
  return recipe;
}

PrecisionPlan plan_with(const std::vector<LayerOverride>& overrides) {
  return {recipe_with(overrides), layers_of(network()), {100, 10}};
}

double first_bitops(const std::vector<LayerOverride>& overrides) {
  const PrecisionPlan plan = plan_with(overrides);
  return CostMeter(plan).bitops(plan.decide(0));
}

double static_bitops(const std::vector<LayerOverride>& overrides) {
  return CostMeter(plan_with(overrides)).static_bitops();
}

// What `bitcycle cost` would count with the bits of one layer changed by hand.
double counted(LayerBits scheduled, const std::string& layer, LayerBits own) {
  const CostModel model(layers_of(network()), Counting::paper);
  std::vector<LayerBits> bits = model.resolve(scheduled);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (model.layers()[i].name == layer) bits[i] = own;
  }
  return model.sample_cost(bits).total();
}

TEST(CostMeterTest, FloatLayersOfTheNetworkCountAtTheScheduledBits) {
  const CostModel model(layers_of(network()), Counting::paper);
  EXPECT_EQ(first_bitops({}), model.sample_cost(layer_bits(4, 8)).total());
  EXPECT_EQ(static_bitops({}), model.sample_cost(layer_bits(8, 8)).total());
}

TEST(CostMeterTest, AnOverrideOnThemCountsAsItSays) {
  for (const char* layer : {"conv1", "layer2.0.downsample.0", "fc"}) {
    const std::vector<LayerOverride> overrides = {{.layers = layer, .forward = width(6)}};
    EXPECT_EQ(first_bitops(overrides), counted(layer_bits(4, 8), layer, {6, 6, 8})) << layer;
    EXPECT_EQ(static_bitops(overrides), counted(layer_bits(8, 8), layer, {6, 6, 8})) << layer;
    EXPECT_NE(first_bitops(overrides), first_bitops({})) << layer;
  }
}

TEST(CostMeterTest, AnOverrideToFloatCountsAs32Bits) {
  for (const char* layer : {"conv1", "layer1.0.conv1", "fc"}) {
    const std::vector<LayerOverride> overrides = {{.layers = layer, .full_precision = true}};
    EXPECT_EQ(first_bitops(overrides), counted(layer_bits(4, 8), layer, {32, 32, 32})) << layer;
    EXPECT_EQ(static_bitops(overrides), counted(layer_bits(8, 8), layer, {32, 32, 32})) << layer;
  }
}

TEST(CostMeterTest, OfSeveralOverridesTheLastCounts) {
  const std::vector<LayerOverride> overrides = {
      {.layers = "*", .full_precision = true},
      {.layers = "*", .forward = width(5), .backward = width(6)},
      {.layers = "fc", .full_precision = true}};
  EXPECT_EQ(first_bitops(overrides), counted({5, 5, 6}, "fc", {32, 32, 32}));
}

TEST(CostMeterTest, CountsTheScheduledRunAgainstTheStaticOne) {
  const Network network = make_network("cifar_resnet38", {.classes = 100});
  PrecisionRecipe recipe;
  recipe.forward = {.name = "CR", .min = 3, .max = 8, .cycles = 1};
  const PrecisionPlan plan(recipe, layers_of(network), {2000, 100});
  const CostMeter meter(plan);
  EXPECT_EQ(meter.static_bitops(), 84'031'744.0 * (64 + 64 + 64));
  EXPECT_EQ(meter.bitops(plan.decide(0)), 84'031'744.0 * (9 + 24 + 24));
  double sum = 0;
  for (Step step = 0; step < 2000; ++step) sum += meter.bitops(plan.decide(step));
  EXPECT_NEAR(100 * (1 - sum / 2000 / meter.static_bitops()), 36.67, 0.01);
}

// Gates: what they choose is counted layer by layer.

DynamicPolicy gated_policy(const std::string& model) {
  PrecisionRecipe recipe;
  DynamicRecipe& dynamic = recipe.dynamic.emplace();
  dynamic.options = {{0, 0}, {3, 6}, {6, 12}};
  dynamic.weight = 4;
  dynamic.target = {3};
  return {recipe, layers_of(gated(make_network(model), 3)), {100, 10}};
}

// Options of the policy above in every block: so many skip, the others have 3/6 or 6/12.
StepBits chosen(const DynamicPolicy& policy, double skip, double cheap, double dear) {
  return policy.chosen({skip, cheap, dear});
}

TEST(CostMeterTest, GatesAreMeasuredAgainstTheStaticNetworkWithoutThem) {
  for (const char* model : {"cifar_resnet38", "cifar_mobilenet_v2", "resnet18"}) {
    const CostModel model_without(layers_of(make_network(model)), Counting::paper);
    EXPECT_EQ(CostMeter(gated_policy(model)).static_bitops(),
              model_without.sample_cost(layer_bits(8, 8)).total())
        << model;
  }
}

// ResNet-38: all convolutions but the first are in blocks. That and the gates are in float, and the
// classifier counts at 8 bits.
TEST(CostMeterTest, ChoicesCountWithTheirLayersTrueSizes) {
  const DynamicPolicy policy = gated_policy("cifar_resnet38");
  const double stem = (3 * 16 * 9 + 2 * 16) * 32 * 32, classifier = 640;
  double gates = 0;
  for (const LayerInfo& layer : gate_layers(gated(make_network("cifar_resnet38"), 3))) {
    gates += static_cast<double>(layer.macs);
  }
  const double blocks = 84'031'744.0 - 90 * 64 - stem - classifier;  // 10 classes, not 100
  EXPECT_EQ(CostMeter(policy).bitops(chosen(policy, 0, 1, 0)),
            blocks * (12 + 24 + 18) + (stem + gates) * 3 * 1024 + classifier * 3 * 64);
}

TEST(CostMeterTest, CostIsLinearInTheSharesOfTheChoices) {
  const DynamicPolicy policy = gated_policy("cifar_resnet38");
  const CostMeter meter(policy);
  EXPECT_DOUBLE_EQ(
      meter.bitops(chosen(policy, 0, 0.75, 0.25)),
      0.75 * meter.bitops(chosen(policy, 0, 1, 0)) + 0.25 * meter.bitops(chosen(policy, 0, 0, 1)));
  EXPECT_DOUBLE_EQ(meter.bitops(policy.decide(0)), meter.bitops(chosen(policy, 0, 0, 1)));
}

// What skips a block costs nothing there, but where the shape changes its projection, at the
// dearest option.
TEST(CostMeterTest, SkippedSamplesPayForProjectionsAlone) {
  const DynamicPolicy policy = gated_policy("cifar_resnet38");
  const CostMeter meter(policy);
  const double kept = meter.bitops(chosen(policy, 0, 1, 0)),
               skipped = meter.bitops(chosen(policy, 1, 0, 0));
  const double projections = (16 + 2) * 32.0 * 16 * 16 + (32 + 2) * 64.0 * 8 * 8;
  EXPECT_DOUBLE_EQ(meter.bitops(chosen(policy, 0.5, 0.5, 0)), (kept + skipped) / 2);
  const double outside = kept - (84'031'744.0 - 90 * 64 - (3 * 16 * 9 + 2 * 16) * 1024 - 640) * 54;
  EXPECT_DOUBLE_EQ(skipped - outside, projections * (24 + 48 + 72));
}

}  // namespace
}  // namespace bitcycle
