#include "bitcycle/cost/energy.h"

#include "bitcycle/network/language.h"
#include "bitcycle/network/zoo.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

// One convolution, 8 to 16 channels, 3x3 at stride 2 on 10 x 10 pictures, in closed form.
LayerInfo layer() {
  LayerInfo info{.name = "conv", .kind = LayerKind::convolution, .macs = 16 * 8 * 9 * 25};
  info.geometry.kernel = {3, 3};
  info.geometry.stride = {2, 2};
  info.geometry.padding = {1, 1};
  info.geometry.in_channels = 8;
  info.geometry.out_channels = 16;
  info.geometry.width = 10;
  return info;
}

TEST(EnergyTest, OperationsAreThoseOfTheTable) {
  EXPECT_DOUBLE_EQ(mac_picojoules(8, 8), 0.2 + 0.1);
  EXPECT_DOUBLE_EQ(mac_picojoules(4, 8), 0.1 + 0.1);
  EXPECT_DOUBLE_EQ(mac_picojoules(0, 0), 3.7 + 0.9);
  EXPECT_DOUBLE_EQ(mac_picojoules(0, 8), 3.7 + 0.9);
  // The table's own multiplication of 32 bits, 3.1 pJ, is near what scaling gives.
  EXPECT_NEAR(mac_picojoules(32, 32) - 0.1, 3.1, 0.11);
  EXPECT_DOUBLE_EQ(memory_picojoules_per_bit() * 64, 1950);
}

TEST(EnergyTest, EachOperandIsReadOnceAndEachResultWrittenOnceInAPass) {
  const Energy step = EnergyModel({layer()}).step(LayerBits{4, 6, 8}, 5);
  const double macs = 5 * 16 * 8 * 9 * 25, weights = 16 * 8 * 9;
  const double inputs = 5 * 8 * 100, outputs = 5 * 16 * 25, bit = 1950.0 / 64 * 1e-12;
  EXPECT_DOUBLE_EQ(step.operations.forward, macs * (0.2 * 4 * 6 / 64 + 0.1) * 1e-12);
  EXPECT_DOUBLE_EQ(step.operations.error, macs * (0.2 * 4 * 8 / 64 + 0.1) * 1e-12);
  EXPECT_DOUBLE_EQ(step.operations.weight_gradient, macs * (0.2 * 6 * 8 / 64 + 0.1) * 1e-12);
  EXPECT_DOUBLE_EQ(step.memory.forward, (weights * 4 + inputs * 6 + outputs * 6) * bit);
  EXPECT_DOUBLE_EQ(step.memory.error, (weights * 4 + outputs * 8 + inputs * 8) * bit);
  EXPECT_DOUBLE_EQ(step.memory.weight_gradient, (inputs * 6 + outputs * 8 + weights * 32) * bit);
  EXPECT_DOUBLE_EQ(step.total(), step.passes().total());
}

// A step is what its weights take and what its samples take, so halves of the batch at different
// bits are the mean of two whole steps; and samples that skip a layer take nothing.
TEST(EnergyTest, SamplesWithBitsOfTheirOwnShareTheWeights) {
  const EnergyModel model({layer(), layer()});
  const LayerBits few{4, 3, 6}, many{4, 6, 12}, other{8, 8, 8};
  const std::vector<LayerBits> bits = {many, other};
  const auto total = [&](const Mixture& mixture) {
    return model.step(bits, LayerMixtures{{0, mixture}}, 10).total();
  };
  const double rest = EnergyModel({layer()}).step(other, 10).total();
  const double few_total = EnergyModel({layer()}).step(few, 10).total();
  const double many_total = EnergyModel({layer()}).step(many, 10).total();
  EXPECT_DOUBLE_EQ(total({{few, many}, {0.0, 1.0}}), model.step(bits, 10).total());
  EXPECT_NEAR(total({{few, many}, {0.5, 0.5}}), rest + (few_total + many_total) / 2, 1e-18);
  EXPECT_DOUBLE_EQ(total({{few, many}, {0.0, 0.0}}), rest);
}

TEST(EnergyTest, TheFirstLayerHasNoErrorPassAndFloatLayersStayFloat) {
  LayerInfo first = layer(), kept = layer();
  first.input_error = InputError::not_needed;
  kept.precision = LayerPrecision::full;
  const LayerBits bits{8, 8, 8};
  EXPECT_EQ(EnergyModel({first}).step(bits, 1).passes().error, 0);
  EXPECT_DOUBLE_EQ(EnergyModel({kept}).step(bits, 1).total(),
                   EnergyModel({layer()}).step(LayerBits{}, 1).total());
}

// Sizes come from the geometry of the layers; here from the network itself.
TEST(EnergyTest, TheTrafficOfAWholeNetworkIsThatOfItsTensors) {
  for (const char* name : {"cifar_resnet20", "cifar_mobilenet_v2", "resnet18", "resnet50"}) {
    const Network network = make_network(name);
    double elements = 0;
    for (const Node& node : network.nodes) {
      if (!node.has_weights()) continue;
      const double weights = static_cast<double>(node.macs()) / (node.out.height * node.out.width);
      elements += weights + static_cast<double>(node.in.elements() + node.out.elements());
    }
    const Energy step = EnergyModel(layers_of(network)).step(LayerBits{}, 1);
    EXPECT_NEAR(step.memory.forward, elements * 1950 / 2 * 1e-12, 1e-9 * step.memory.forward)
        << name;
  }
}

TEST(EnergyTest, LanguageModelsHaveTheirShare) {
  const std::vector<LayerInfo> layers = model_layers(TransformerOptions{.vocabulary = 1000}, 64);
  const EnergyModel model(layers);
  EXPECT_LT(model.step(LayerBits{4, 4, 4}, 64).total(), model.step(LayerBits{8, 8, 8}, 64).total());
  EXPECT_LT(model.step(LayerBits{8, 8, 8}, 64).total(), model.step(LayerBits{}, 64).total());
}

// FracTrain's own reading of its cost column: 64000 steps of 128 at 8/8, three products.
TEST(NormalisedMacsTest, AreThoseOfFracTrainsFixedBudgets) {
  const auto run = [](const char* name) {
    const CostModel model(layers_of(make_network(name)), Counting::macs);
    return normalised_macs(model.sample_cost(LayerBits{8, 8, 8}).total()) * 64000 * 128;
  };
  EXPECT_NEAR(run("cifar_resnet38"), 1.279e14, 0.0005e14);
  EXPECT_NEAR(run("cifar_resnet74"), 2.584e14, 0.0005e14);
}

}  // namespace
}  // namespace bitcycle
