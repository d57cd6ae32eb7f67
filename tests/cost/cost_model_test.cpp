#include "bitcycle/cost/cost_model.h"

#include "bitcycle/base/error.h"
#include "bitcycle/network/zoo.h"

#include <gmock/gmock.h>

namespace bitcycle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A 1x1 convolution 2 -> 3 on a 4x5 image and one 3 -> 2 behind it, small enough to count by hand.
Network two_layers() {
  Network network;
  Node first;
  first.name = "first";
  first.precision = LayerPrecision::full;
  first.in = {2, 4, 5};
  first.out = {3, 4, 5};
  Node second = first;
  second.name = "second";
  second.input = 0;
  second.precision = LayerPrecision::scheduled;
  second.in = first.out;
  second.out = first.in;
  network.nodes = {first, second};
  return network;
}

constexpr LayerBits kBits{.weight = 2, .activation = 3, .error = 5};
constexpr double kFloat = 32 * 32;

void expect_passes(const PassCost& cost, double forward, double error, double weight_gradient) {
  EXPECT_EQ(cost.forward, forward);
  EXPECT_EQ(cost.error, error);
  EXPECT_EQ(cost.weight_gradient, weight_gradient);
  EXPECT_EQ(cost.total(), forward + error + weight_gradient);
}

TEST(CostModelTest, MacsCountTheTwoOperandsOfEachPass) {
  const CostModel model(layers_of(two_layers()), Counting::macs);
  EXPECT_EQ(model.macs(), 240);
  EXPECT_EQ(model.ops(), 240);
  expect_passes(model.layer_cost(0, kBits), 120 * 2 * 3, 120 * 2 * 5, 120 * 3 * 5);
  expect_passes(model.sample_cost(kBits), 240 * 2 * 3, 240 * 2 * 5, 240 * 3 * 5);
}

TEST(CostModelTest, PaperCountsBatchNormTwiceAnElementAtTheLayersBits) {
  const CostModel model(layers_of(two_layers()), Counting::paper);
  EXPECT_EQ(model.macs(), 240);
  EXPECT_EQ(model.ops(), 240 + 2 * 60 + 2 * 40);
  expect_passes(model.layer_cost(0, kBits), 240 * 2 * 3, 240 * 2 * 5, 240 * 3 * 5);
  expect_passes(model.sample_cost(kBits), 440 * 2 * 3, 440 * 2 * 5, 440 * 3 * 5);
}

TEST(CostModelTest, BitcycleCountsFloatLayersAndBatchNormAtThirtyTwoBits) {
  const CostModel model(layers_of(two_layers()), Counting::bitcycle);
  EXPECT_EQ(model.ops(), 440);
  EXPECT_THAT(model.resolve(kBits), ElementsAre(LayerBits{}, kBits));
  const double norms = 200 * kFloat;
  // The first layer has no error pass of its own; its batch norm has.
  expect_passes(model.sample_cost(kBits), 120 * kFloat + 120 * 2 * 3 + norms, 120 * 2 * 5 + norms,
                120 * kFloat + 120 * 3 * 5 + norms);
}

TEST(CostModelTest, TakesTheBitsOfEachLayer) {
  const CostModel model(layers_of(two_layers()), Counting::macs);
  const std::vector<LayerBits> bits = {{4, 4, 8}, {8, 8, 16}};
  expect_passes(model.sample_cost(bits), 120 * 16 + 120 * 64, 120 * 32 + 120 * 128,
                120 * 32 + 120 * 128);
}

TEST(CostModelTest, FloatCountsAsThirtyTwoBits) {
  const CostModel model(layers_of(two_layers()), Counting::macs);
  expect_passes(model.sample_cost(LayerBits{}), 240 * kFloat, 240 * kFloat, 240 * kFloat);
  expect_passes(model.sample_cost({0, 0, 8}), 240 * kFloat, 240 * 256, 240 * 256);
}

TEST(CostModelTest, FloatForwardMeansFloatBackward) {
  EXPECT_EQ(layer_bits(0, 8), LayerBits{});
  EXPECT_EQ(layer_bits(3, 8), (LayerBits{3, 3, 8}));
  EXPECT_EQ(layer_bits(3, 0), (LayerBits{3, 3, 0}));
}

TEST(CostModelTest, LayersAreTheNodesWithWeightsInOrder) {
  const CostModel model(layers_of(make_network("resnet18")), Counting::paper);
  EXPECT_EQ(model.layers().size(), 21U);  // no pooling
  EXPECT_EQ(model.layers().front().name, "conv1");
  EXPECT_EQ(model.layers().back().name, "fc");
  EXPECT_EQ(model.layers().back().norm_ops, 0);
}

TEST(CostModelTest, SamplesOfZooNetworksAreCountedExactly) {
  // At these widths every sum stays below 2^53, so adding layers in another order changes nothing.
  const CostModel model(layers_of(make_network("resnet50")), Counting::paper);
  PassCost reversed;
  for (std::size_t i = model.layers().size(); i-- > 0;) reversed += model.layer_cost(i, kBits);
  EXPECT_EQ(reversed.total(), model.sample_cost(kBits).total());
  EXPECT_EQ(reversed.forward, 4'111'412'224.0 * 2 * 3);
}

struct Ops {
  const char* name;
  int classes;
  std::int64_t ops;
};

class PaperOpsTest : public ::testing::TestWithParam<Ops> {};

TEST_P(PaperOpsTest, AreThoseOfTheTables) {
  const Network network =
      make_network(GetParam().name, {.classes = GetParam().classes, .input = {}});
  EXPECT_EQ(CostModel(layers_of(network), Counting::paper).ops(), GetParam().ops);
}

INSTANTIATE_TEST_SUITE_P(
    Zoo, PaperOpsTest,
    ::testing::Values(
        Ops{"cifar_resnet38", 100, 84'031'744}, Ops{"cifar_resnet74", 100, 169'654'528},
        Ops{"cifar_resnet110", 100, 255'277'312}, Ops{"cifar_resnet152", 100, 355'170'560},
        Ops{"cifar_resnet164", 100, 383'711'488}, Ops{"cifar_mobilenet_v2", 100, 94'720'000},
        Ops{"cifar_mobilenet_v2", 10, 94'604'800}, Ops{"resnet18", 1000, 1'819'040'768},
        Ops{"resnet34", 1000, 3'671'237'632}, Ops{"resnet50", 1000, 4'111'412'224}),
    [](const auto& info) {
      return std::string(info.param.name) + "_" + std::to_string(info.param.classes);
    });

TEST(CountingTest, NamesRoundTripAndSlipsGetTheNearest) {
  for (const std::string& rule : counting_names()) {
    EXPECT_EQ(name(counting_by_name(rule)), rule);
    EXPECT_FALSE(summary(counting_by_name(rule)).empty());
  }
  try {
    counting_by_name("papper");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("\"papper\""));
    EXPECT_THAT(error.hint(), HasSubstr("\"paper\""));
  }
}

}  // namespace
}  // namespace bitcycle
