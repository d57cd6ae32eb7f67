// The decision behind backend = "auto" is made without LibTorch; here it meets the units that it is
// about.

#include "bitcycle/config/backend.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/nn/conv_unit.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

Network network_of(int kernel, int padding) {
  const ImageShape shape{8, 16, 16};
  return {
      .input = shape,
      .nodes = {{.name = "conv", .kernel = kernel, .padding = padding, .in = shape, .out = shape}}};
}

bool chosen(const Network& network, LayerBits bits) {
  PrecisionRecipe recipe;
  recipe.weight = ScheduleSpec{.min = bits.weight, .max = bits.weight};
  recipe.activation = ScheduleSpec{.min = bits.activation, .max = bits.activation};
  recipe.backward = ScheduleSpec{.min = bits.error, .max = bits.error};
  const PrecisionPlan plan(recipe, layers_of(network), {1, 1});
  return choose_backend({.backend = Backend::automatic}, plan).backend == Backend::integer;
}

bool executes(const Node& node, LayerBits bits) {
  const auto options = torch::nn::Conv2dOptions(node.in.channels, node.out.channels, node.kernel)
                           .stride(node.stride)
                           .padding(node.padding)
                           .groups(node.groups)
                           .bias(false);
  ConvUnit unit(ConvUnitOptions{options});
  set_executor(*unit, Executor::integer);
  unit->conv->set_precision(bits, RandomKey(1));
  return unit->executes(at::empty({1, node.in.channels, node.in.height, node.in.width}));
}

TEST(BackendAgreementTest, UnitsExecuteExactlyTheWidthsThatAutomaticTakes) {
  const Network network = network_of(3, 1);
  for (int width = 0; width <= 18; ++width) {
    for (const LayerBits bits : {LayerBits{width, 4, 8}, {4, width, 8}, {4, 4, width}}) {
      SCOPED_TRACE(testing::Message() << bits.weight << bits.activation << bits.error);
      const bool taken = width >= 2 && width <= (bits.error == width ? 16 : 8);
      EXPECT_EQ(chosen(network, bits), taken);
      EXPECT_EQ(executes(network.nodes[0], bits), taken);
    }
  }
}

TEST(BackendAgreementTest, UnitsExecuteExactlyTheGeometriesThatAutomaticTakes) {
  for (int kernel = 1; kernel <= 17; ++kernel) {
    for (int padding = 0; padding <= 8; ++padding) {
      for (const int groups : {1, 4, 8}) {
        SCOPED_TRACE(testing::Message() << kernel << " " << padding << " " << groups);
        Network network = network_of(kernel, padding);
        network.nodes[0].groups = groups;
        const bool taken = kernel % 2 == 1 && padding == kernel / 2 && (groups < 8 || kernel <= 15);
        EXPECT_EQ(chosen(network, {8, 8, 8}), taken);
        EXPECT_EQ(executes(network.nodes[0], {8, 8, 8}), taken);
      }
    }
  }
}

TEST(BackendAgreementTest, RowsThatSumsCannotHoldAreSimulatedByBoth) {
  for (const int width : {32768, 32769}) {
    Network network = network_of(1, 0);
    network.nodes[0].in = network.nodes[0].out = {8, 1, width};
    EXPECT_EQ(chosen(network, {8, 8, 8}), width == 32768);
    EXPECT_EQ(executes(network.nodes[0], {8, 8, 8}), width == 32768);
  }
}

}  // namespace
}  // namespace bitcycle
