#include "bitcycle/models/network_model.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/models/float_reference.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/train/tensor_io.h"

#include <cmath>

#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>

namespace bitcycle {
namespace {

at::Tensor input_for(const Network& network, std::int64_t batch) {
  torch::manual_seed(7);
  return torch::randn({batch, network.input.channels, network.input.height, network.input.width});
}

std::int64_t parameter_count(const torch::nn::Module& model) {
  std::int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

double relative_distance(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

TEST(NetworkModelTest, HasTheParametersThatTheDescriptionCounts) {
  for (const char* name : {"cifar_resnet20", "cifar_mobilenet_v2", "resnet18", "resnet50"}) {
    const Network network = make_network(name, {.classes = 100});
    EXPECT_EQ(parameter_count(*NetworkModel(network, 1)), network.parameters()) << name;
  }
}

TEST(NetworkModelTest, NamesItsParametersAsPyTorchDoes) {
  const auto state = model_state(*NetworkModel(make_network("resnet18", {}), 1));
  for (const char* name :
       {"conv1.weight", "bn1.running_mean", "layer1.0.conv1.weight", "layer2.0.downsample.0.weight",
        "layer2.0.downsample.1.bias", "layer4.1.bn2.weight", "fc.weight", "fc.bias"}) {
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

// The model's parameters in the order in which FloatReference registers its own.
std::vector<at::Tensor> reference_order(NetworkModel& model) {
  const auto parameters = model->named_parameters();
  std::vector<at::Tensor> ordered;
  for (const Node& node : model->network().nodes) {
    if (!node.has_weights()) continue;
    ordered.push_back(parameters[node.name + ".weight"]);
    const bool linear = node.kind == NodeKind::linear;
    if (!linear) ordered.push_back(parameters[node.norm_name + ".weight"]);
    ordered.push_back(parameters[(linear ? node.name : node.norm_name) + ".bias"]);
  }
  return ordered;
}

FloatReference reference_with(const std::vector<at::Tensor>& parameters, const Network& network) {
  const torch::NoGradGuard no_grad;
  FloatReference reference(network);
  const auto own = reference->parameters();
  for (std::size_t i = 0; i < own.size(); ++i) own[i].copy_(parameters[i]);
  return reference;
}

// Without ReLUs: one whose input is nearly 0 may open in one network and not in another, and then
// gradients differ by a percent though both are right. (Their mask is tested in kernels_test.)
Network smooth_network(const char* name) {
  Network network = make_network(name, {.input = ImageShape{3, 16, 16}});
  for (Node& node : network.nodes) node.activation = Activation::none;
  return network;
}

// In float the fused units must compute what LibTorch's own modules compute: as close to the same
// network in double as LibTorch's float is.
TEST(NetworkModelTest, InFloatAgreesWithPlainLibTorchForwardAndBackward) {
  for (const char* name : {"cifar_resnet8", "cifar_mobilenet_v2"}) {
    const Network network = smooth_network(name);
    auto ours = NetworkModel(network, 3);
    const auto parameters = reference_order(ours);
    auto plain = reference_with(parameters, network), exact = reference_with(parameters, network);
    exact->to(at::kDouble);
    const at::Tensor x = input_for(network, 6), labels = torch::arange(6);
    const at::Tensor a = ours->forward(x), b = plain->forward(x),
                     truth = exact->forward(x.to(at::kDouble));
    for (const at::Tensor& y : {a, b, truth}) at::cross_entropy_loss(y, labels).backward();
    EXPECT_LT(relative_distance(a, truth), 5 * relative_distance(b, truth) + 1e-5) << name;
    const at::Tensor gradient = exact->parameters()[0].grad();
    EXPECT_LT(relative_distance(parameters[0].grad(), gradient),
              5 * relative_distance(plain->parameters()[0].grad(), gradient) + 1e-5)
        << name;
    ours->eval();
    plain->eval();
    const torch::NoGradGuard no_grad;
    EXPECT_LT(relative_distance(ours->forward(x), plain->forward(x)), 1e-3) << name;
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

// Evaluation quantizes over the running ranges and moves nothing, under every executor.
TEST(NetworkModelTest, EvaluatingChangesNoByte) {
  const Network network = make_network("cifar_resnet8", {.input = ImageShape{3, 16, 16}});
  PrecisionRecipe recipe;
  recipe.forward = recipe.backward = {.min = 8, .max = 8};
  for (const Executor executor : {Executor::simulate, Executor::integer, Executor::oracle}) {
    auto model = NetworkModel(network, 1);
    set_executor(*model, executor);
    const PrecisionPlan plan(recipe, layers_of(network), {1, 1});
    PrecisionController controller(*model, plan.layers(), 1);
    controller.apply(plan.decide(0), 0);
    model->forward(input_for(network, 6));
    model->eval();
    const torch::NoGradGuard no_grad;
    std::map<std::string, at::Tensor> before;
    for (const auto& [name, tensor] : model_state(*model)) before[name] = tensor.clone();
    const at::Tensor x = 3 * input_for(network, 6);
    const at::Tensor first = model->forward(x).clone();
    EXPECT_TRUE(model->forward(x).equal(first));
    // One picture is scored as it is in company: no range is the batch's own.
    EXPECT_TRUE(at::allclose(model->forward(x.narrow(0, 2, 1)), first.narrow(0, 2, 1), 1e-4, 1e-4));
    for (const auto& [name, tensor] : model_state(*model)) {
      EXPECT_TRUE(tensor.equal(before.at(name))) << name;
    }
  }
}

TEST(PrecisionControllerTest, WritesTheScheduledBitsIntoTheLayers) {
  const Network network = make_network("cifar_resnet8", {});
  auto model = NetworkModel(network, 1);
  PrecisionRecipe recipe;
  recipe.forward = {.name = "CR", .min = 3, .max = 8, .cycles = 1};
  recipe.overrides.push_back({.layers = "conv1", .full_precision = true});
  const PrecisionPlan plan(recipe, layers_of(network), {8, 4});
  PrecisionController controller(*model, plan.layers(), 1);
  const auto modules = model->named_modules();
  const auto bits = [&](const std::string& name) {
    return dynamic_cast<const QuantLayer&>(*modules[name]).bits();
  };
  controller.apply(plan.decide(0), 0);
  EXPECT_EQ(bits("layer1.0.conv1"), (LayerBits{3, 3, 8}));
  EXPECT_EQ(bits("conv1"), LayerBits{});
  EXPECT_EQ(bits("fc"), LayerBits{});
  controller.apply(plan.decide(7), 7);
  EXPECT_EQ(bits("layer1.0.conv1"), (LayerBits{8, 8, 8}));
  controller.apply(plan.evaluation(parse_evaluation_bits("4"), 7), 7);
  EXPECT_EQ(bits("layer1.0.conv1").weight, 4);
  EXPECT_EQ(bits("conv1"), LayerBits{});
}

TEST(PrecisionControllerTest, FindsTheQuantizedLayersOfAnyModel) {
  torch::nn::Sequential model(QuantConv2d(torch::nn::Conv2dOptions(4, 4, 3).groups(4).bias(false)),
                              torch::nn::ReLU(), QuantConv2d(torch::nn::Conv2dOptions(4, 2, 1)));
  const auto layers = layers_of(*model);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].name, "0");
  EXPECT_EQ(layers[0].tags, std::vector<std::string>{"depthwise"});
  EXPECT_EQ(layers[1].name, "2");
  EXPECT_TRUE(layers[1].tags.empty());
}

// Bits that follow from the input: what a gate is to layers and costs.
struct GatedImpl : torch::nn::Module {
  QuantLinear first{register_module("first", QuantLinear(torch::nn::LinearOptions(4, 4)))};
  QuantLinear second{register_module("second", QuantLinear(torch::nn::LinearOptions(4, 2)))};

  at::Tensor forward(const at::Tensor& x) {
    if (x.abs().max().item<float>() < 1) second->choose({3, 3, 8});
    return second->forward(first->forward(x));
  }
};
TORCH_MODULE(Gated);

TEST(PrecisionControllerTest, FullyConnectedLayersHaveTheirCost) {
  const auto layers = layers_of(*Gated());
  EXPECT_EQ(layers[0].macs, 4 * 4);
  EXPECT_EQ(layers[1].macs, 4 * 2);
}

TEST(PrecisionControllerTest, BitsOfOtherLayersAreRefused) {
  Gated model;
  PrecisionController controller(*model, layers_of(*model), 1);
  EXPECT_THROW(controller.apply(StepBits{{LayerBits{}}}, 0), Error);
  EXPECT_THROW(PrecisionController(*model, {{.name = "third"}}, 1), Error);
}

TEST(PrecisionControllerTest, ReportsWhatAGateInTheModelChose) {
  Gated model;
  PrecisionRecipe recipe;
  const PrecisionPlan plan(recipe, layers_of(*model), {8, 4});
  PrecisionController controller(*model, plan.layers(), 1);
  const auto executed = [&](float input, Step step) {
    const StepBits decided = plan.decide(step);
    controller.apply(decided, step);
    model->forward(at::full({2, 4}, input));
    return controller.executed(decided);
  };
  EXPECT_EQ(executed(0.5f, 0).layers[0], (LayerBits{8, 8, 8}));
  EXPECT_EQ(executed(0.5f, 1).layers[1], (LayerBits{3, 3, 8}));
  EXPECT_EQ(executed(0.5f, 1).counted[1], (LayerBits{3, 3, 8}));
  EXPECT_EQ(executed(2.0f, 2).layers[1], (LayerBits{8, 8, 8}));
}

}  // namespace
}  // namespace bitcycle
