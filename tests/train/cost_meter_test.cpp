// The trainer's meter against the cost model, asked layer by layer for the bits that the recipe
// says.

#include "bitcycle/train/cost_meter.h"

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

CostMeter meter_of(const std::vector<LayerOverride>& overrides) {
  return {network(), PrecisionPlan(recipe_with(overrides), planned_layers(network()), {100, 10})};
}

// What `bitcycle cost` would count with the bits of one layer changed by hand.
double counted(LayerBits scheduled, const std::string& layer, LayerBits own) {
  const CostModel model(network(), Counting::paper);
  std::vector<LayerBits> bits = model.resolve(scheduled);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (model.layers()[i].name == layer) bits[i] = own;
  }
  return model.sample_cost(bits).total();
}

TEST(CostMeterTest, FloatLayersOfTheNetworkCountAtTheScheduledBits) {
  const CostMeter meter = meter_of({});
  const CostModel model(network(), Counting::paper);
  EXPECT_EQ(meter.sample_bitops(0), model.sample_cost(layer_bits(4, 8)).total());
  EXPECT_EQ(meter.static_sample_bitops(), model.sample_cost(layer_bits(8, 8)).total());
}

TEST(CostMeterTest, AnOverrideOnThemCountsAsItSays) {
  for (const char* layer : {"conv1", "layer2.0.downsample.0", "fc"}) {
    const CostMeter meter = meter_of({{.layers = layer, .forward = width(6)}});
    EXPECT_EQ(meter.sample_bitops(0), counted(layer_bits(4, 8), layer, {6, 6, 8})) << layer;
    EXPECT_EQ(meter.static_sample_bitops(), counted(layer_bits(8, 8), layer, {6, 6, 8})) << layer;
    EXPECT_NE(meter.sample_bitops(0), meter_of({}).sample_bitops(0)) << layer;
  }
}

TEST(CostMeterTest, AnOverrideToFloatCountsAs32Bits) {
  for (const char* layer : {"conv1", "layer1.0.conv1", "fc"}) {
    const CostMeter meter = meter_of({{.layers = layer, .full_precision = true}});
    EXPECT_EQ(meter.sample_bitops(0), counted(layer_bits(4, 8), layer, {32, 32, 32})) << layer;
    EXPECT_EQ(meter.static_sample_bitops(), counted(layer_bits(8, 8), layer, {32, 32, 32}))
        << layer;
  }
}

TEST(CostMeterTest, OfSeveralOverridesTheLastCounts) {
  const CostMeter meter = meter_of({{.layers = "*", .full_precision = true},
                                    {.layers = "*", .forward = width(5), .backward = width(6)},
                                    {.layers = "fc", .full_precision = true}});
  EXPECT_EQ(meter.sample_bitops(0), counted({5, 5, 6}, "fc", {32, 32, 32}));
}

}  // namespace
}  // namespace bitcycle
