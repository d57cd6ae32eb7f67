#include "bitcycle/models/network_model.h"

#include "bitcycle/models/float_reference.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/train/tensor_io.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bitcycle {
namespace {

at::Tensor input_for(const Network& network, std::int64_t batch) {
  return torch::randn({batch, network.input.channels, network.input.height, network.input.width});
}

std::int64_t parameter_count(const torch::nn::Module& model) {
  std::int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

TEST(NetworkModelTest, HasTheParametersThatTheDescriptionCounts) {
  for (const char* name : {"cifar_resnet20", "cifar_mobilenet_v2", "resnet18", "resnet50"}) {
    const Network network = make_network(name, {.classes = 100});
    EXPECT_EQ(parameter_count(*NetworkModel(network, 1)), network.parameters()) << name;
  }
}

TEST(NetworkModelTest, NamesItsParametersAsPyTorchDoes) {
  const auto state = model_state(*NetworkModel(make_network("resnet18", {}), 1));
  for (const char* name : {"conv1.weight", "bn1.running_mean", "layer1.0.conv1.weight",
                           "layer2.0.downsample.0.weight", "layer2.0.downsample.1.bias",
                           "layer4.1.bn2.weight", "fc.weight", "fc.bias"}) {
    EXPECT_EQ(state.count(name), 1U) << name;
  }
}

TEST(NetworkModelTest, StartsFromTheSeedAloneWithTheDocumentedDeviation) {
  const Network network = make_network("cifar_resnet20", {.classes = 100});
  const auto a = model_state(*NetworkModel(network, 1)), b = model_state(*NetworkModel(network, 1)),
             c = model_state(*NetworkModel(network, 2));
  const std::string name = "layer3.0.conv2.weight";
  EXPECT_TRUE(a.at(name).equal(b.at(name)));
  EXPECT_FALSE(a.at(name).equal(c.at(name)));
  EXPECT_NEAR(a.at(name).std().item<double>(), std::sqrt(2.0 / (9 * 64)), 1e-3);
  EXPECT_NEAR(a.at("fc.weight").std().item<double>(), std::sqrt(2.0 / (64 * 100)), 1e-3);
}

// In float the fused units must compute what LibTorch's own modules compute.
TEST(NetworkModelTest, InFloatAgreesWithPlainLibTorchForwardAndBackward) {
  for (const char* name : {"cifar_resnet8", "cifar_mobilenet_v2"}) {
    const Network network = make_network(name, {.input = ImageShape{3, 16, 16}});
    auto ours = NetworkModel(network, 3);
    auto theirs = FloatReference(network);
    const auto mine = ours->named_parameters();
    {
      const torch::NoGradGuard no_grad;
      std::size_t i = 0;  // both register a unit's convolution, then its norm
      std::vector<at::Tensor> ordered;
      for (const Node& node : network.nodes) {
        if (!node.has_weights()) continue;
        ordered.push_back(mine[node.name + ".weight"]);
        if (node.kind == NodeKind::linear) ordered.push_back(mine[node.name + ".bias"]);
        if (node.kind == NodeKind::linear) continue;
        ordered.push_back(mine[node.norm_name + ".weight"]);
        ordered.push_back(mine[node.norm_name + ".bias"]);
      }
      for (auto& parameter : theirs->parameters()) parameter.copy_(ordered[i++]);
    }
    const at::Tensor x = input_for(network, 6);
    const at::Tensor labels = torch::arange(6);
    const at::Tensor a = ours->forward(x), b = theirs->forward(x);
    EXPECT_TRUE(at::allclose(a, b, 1e-3, 1e-4)) << name;
    at::cross_entropy_loss(a, labels).backward();
    at::cross_entropy_loss(b, labels).backward();
    const at::Tensor first = mine[network.nodes[0].name + ".weight"].grad();
    EXPECT_TRUE(at::allclose(first, theirs->parameters()[0].grad(), 1e-2, 1e-4)) << name;
    ours->eval();
    theirs->eval();
    const torch::NoGradGuard no_grad;
    EXPECT_TRUE(at::allclose(ours->forward(x), theirs->forward(x), 1e-3, 1e-4)) << name;
  }
}

TEST(NetworkModelTest, TrainsAtAnyInputSizeAndChannelCount) {
  for (const ImageShape shape : {ImageShape{1, 28, 28}, ImageShape{4, 33, 17}}) {
    const Network network = make_network("cifar_resnet8", {.classes = 5, .input = shape});
    auto model = NetworkModel(network, 1);
    const at::Tensor y = model->forward(input_for(network, 3));
    EXPECT_EQ(y.sizes(), (at::IntArrayRef{3, 5}));
  }
}

TEST(PrecisionControllerTest, WritesTheScheduledBitsIntoTheLayers) {
  const Network network = make_network("cifar_resnet8", {});
  auto model = NetworkModel(network, 1);
  PrecisionRecipe recipe;
  recipe.forward = {.name = "CR", .min = 3, .max = 8, .cycles = 1};
  recipe.overrides.push_back({.layers = "conv1", .full_precision = true});
  PrecisionController controller(*model, PrecisionPlan(recipe, planned_layers(network), {8, 4}), 1);
  const auto modules = model->named_modules();
  const auto bits = [&](const std::string& name) {
    return dynamic_cast<const QuantLayer&>(*modules[name]).bits();
  };
  controller.apply(0);
  EXPECT_EQ(bits("layer1.0.conv1"), (LayerBits{3, 3, 8}));
  EXPECT_EQ(bits("conv1"), LayerBits{});
  EXPECT_EQ(bits("fc"), LayerBits{});
  controller.apply(7);
  EXPECT_EQ(bits("layer1.0.conv1"), (LayerBits{8, 8, 8}));
  controller.apply(parse_evaluation_bits("4"), 7);
  EXPECT_EQ(bits("layer1.0.conv1").weight, 4);
  EXPECT_EQ(bits("conv1"), LayerBits{});
}

TEST(PrecisionControllerTest, FindsTheQuantizedLayersOfAnyModel) {
  torch::nn::Sequential model(
      QuantConv2d(torch::nn::Conv2dOptions(4, 4, 3).groups(4).bias(false)), torch::nn::ReLU(),
      QuantConv2d(torch::nn::Conv2dOptions(4, 2, 1)));
  const auto layers = planned_layers(*model);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].name, "0");
  EXPECT_TRUE(layers[0].depthwise);
  EXPECT_EQ(layers[1].name, "2");
  EXPECT_FALSE(layers[1].depthwise);
}

}  // namespace
}  // namespace bitcycle
