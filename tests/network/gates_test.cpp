#include "bitcycle/network/gates.h"

#include "bitcycle/network/zoo.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>

namespace bitcycle {
namespace {

using ::testing::ElementsAre;

Network with_gates(std::string_view name, int options) {
  return gated(make_network(name), options);
}

std::int64_t gate_macs(const Network& network, std::string_view start) {
  std::int64_t macs = 0;
  for (const LayerInfo& layer : gate_layers(network)) {
    if (layer.name.starts_with(start)) macs += layer.macs;
  }
  return macs;
}

TEST(Gates, ThereIsOnePerResidualBlock) {
  const std::map<std::string, std::size_t> blocks = {
      {"cifar_resnet38", 18}, {"cifar_resnet74", 36}, {"cifar_mobilenet_v2", 17},
      {"resnet18", 8},        {"resnet34", 16},       {"resnet50", 16}};
  for (const auto& [name, count] : blocks) {
    EXPECT_EQ(make_network(name).blocks.size(), count) << name;
  }
}

TEST(Gates, BlocksReadNothingFromOutsideButTheirInput) {
  for (const char* name : {"cifar_resnet20", "cifar_mobilenet_v2", "resnet18", "resnet50"}) {
    const Network network = make_network(name);
    for (const ResidualBlock& block : network.blocks) {
      const int input = network.nodes[block.first].input;
      for (int i = block.first; i <= block.last; ++i) {
        const Node& node = network.nodes[i];
        for (const int read : {node.input, node.residual}) {
          EXPECT_TRUE(read == kNone || read == input || read >= block.first) << node.name;
        }
      }
    }
  }
}

// A block of the first stage: 16 x 32 + 32 x 16 for the embedding, 32 x 64 for the cell, 16 x 5 for
// the scores; with 64 channels 64 x 32 in place of 16 x 32.
TEST(Gates, CostSomeThousandOperationsPerBlock) {
  const Network network = with_gates("cifar_resnet38", 5);
  const std::int64_t shared = gate_macs(network, "gates.h") + gate_macs(network, "gates.ih");
  EXPECT_EQ(shared, 18 * (2048 + 80));
  EXPECT_EQ(gate_macs(network, "gates.0.") + shared / 18, 3152);
  EXPECT_EQ(gate_macs(network, "gates.17.") + shared / 18, 4688);
}

// First layers 7 x 17 x 32, 6 x 33 x 32, 5 x 65 x 32 (the inputs of the blocks have 16, 32 and 64
// channels), second ones 18 x 33 x 16, cell 64 x 34, head 17 x 5.
TEST(Gates, AddTheirParameters) {
  EXPECT_EQ(gate_parameters(with_gates("cifar_resnet38", 5)), 32309);
  EXPECT_EQ(gate_parameters(make_network("cifar_resnet38")), 0);
  EXPECT_EQ(with_gates("cifar_resnet38", 5).parameters(),
            make_network("cifar_resnet38").parameters() + 32309);
  // resnet18: 40 (C + 1) for 64 x 3, 128 x 2, 256 x 2, 512 x 1; cell 80 x 62, head 21 x 4.
  EXPECT_EQ(gate_parameters(with_gates("resnet18", 4)),
            40 * (3 * 65 + 2 * 129 + 2 * 257 + 513) + 80 * 62 + 21 * 4);
}

TEST(Gates, ChooseForTheConvolutionsOfTheirBlock) {
  const auto layers = [](const char* name, std::size_t block) {
    const Network network = with_gates(name, 4);
    return gated_layers(network, network.blocks[block]);
  };
  EXPECT_THAT(layers("cifar_resnet20", 3),
              ElementsAre("layer2.0.conv1", "layer2.0.downsample.0", "layer2.0.conv2"));
  EXPECT_THAT(layers("cifar_mobilenet_v2", 0),
              ElementsAre("layers.0.conv1", "layers.0.shortcut.0", "layers.0.conv3"));
  EXPECT_THAT(layers("resnet18", 2), ElementsAre("layer2.0.conv1", "layer2.0.conv2"));
  EXPECT_THAT(layers("resnet50", 0),
              ElementsAre("layer1.0.conv1", "layer1.0.conv2", "layer1.0.conv3"));
}

TEST(Gates, LeaveWhatIsOutsideTheBlocksInFloat) {
  for (const LayerInfo& layer : layers_of(with_gates("cifar_mobilenet_v2", 5))) {
    const bool inside = layer.name.starts_with("layers.");
    EXPECT_EQ(layer.precision == LayerPrecision::scheduled, inside) << layer.name;
    const bool depthwise = std::ranges::count(layer.tags, "depthwise") > 0;
    EXPECT_EQ(layer.block >= 0, inside && !depthwise) << layer.name;
  }
}

}  // namespace
}  // namespace bitcycle
