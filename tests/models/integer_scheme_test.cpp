// The integer scheme, executed by the kernels and simulated by LibTorch's float arithmetic, is one
// scheme: whole training steps give the same bytes, so every code on the way was the same.

#include "bitcycle/config/precision_plan.h"
#include "bitcycle/models/network_model.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/train/optimizer.h"
#include "bitcycle/train/tensor_io.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

PrecisionPlan plan_at(const Network& network, int bits, int error_bits) {
  PrecisionRecipe recipe;
  recipe.weight = recipe.activation = ScheduleSpec{.min = bits, .max = bits};
  recipe.backward = ScheduleSpec{.min = error_bits, .max = error_bits};
  return PrecisionPlan(recipe, layers_of(network), {1, 1});
}

struct Trained {
  std::vector<at::Tensor> outputs;             // of every node, in the last step
  std::map<std::string, at::Tensor> state;     // parameters, statistics and ranges after it
  std::map<std::string, at::Tensor> gradient;  // of the last step
};

Trained train(const Network& network, Executor executor, int bits, int error_bits) {
  torch::manual_seed(11);
  const at::Tensor images =
      torch::randn({3, network.input.channels, network.input.height, network.input.width});
  const at::Tensor labels = torch::randint(0, network.classes, {3}, at::kLong);
  NetworkModel model(network, 1);
  set_executor(*model, executor);
  model->train();
  const PrecisionPlan plan = plan_at(network, bits, error_bits);
  PrecisionController controller(*model, plan.layers(), 1);
  Optimizer optimizer(*model, OptimizerRecipe{.lr = 0.05, .momentum = 0.9});
  Trained result;
  for (Step step = 0; step < 2; ++step) {
    controller.apply(plan.decide(step), step);
    optimizer.zero_grad();
    result.outputs.clear();
    const at::Tensor scores = model->forward(
        images.contiguous(at::MemoryFormat::ChannelsLast),
        [&](const Node&, const at::Tensor& x) { result.outputs.push_back(x.detach()); });
    at::cross_entropy_loss(scores, labels).backward();
    optimizer.step(0.05, step);
  }
  for (const auto& item : model->named_parameters()) {
    result.gradient[item.key()] = item.value().grad().clone();
  }
  for (const auto& [name, tensor] : model_state(*model)) result.state[name] = tensor.clone();
  return result;
}

void expect_same(const std::map<std::string, at::Tensor>& a,
                 const std::map<std::string, at::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) EXPECT_TRUE(tensor.equal(b.at(name))) << name;
}

void expect_one_scheme(const Network& network, int bits, int error_bits) {
  SCOPED_TRACE(testing::Message() << network.name << " at " << bits << "/" << error_bits);
  const Trained executed = train(network, Executor::integer, bits, error_bits);
  const Trained simulated = train(network, Executor::oracle, bits, error_bits);
  for (std::size_t i = 0; i < executed.outputs.size(); ++i) {
    EXPECT_TRUE(executed.outputs[i].equal(simulated.outputs[i])) << network.nodes[i].name;
  }
  expect_same(executed.gradient, simulated.gradient);
  expect_same(executed.state, simulated.state);
}

TEST(IntegerScheme, IsTheSameExecutedAndSimulatedInResNet20AtEveryWidth) {
  const Network network = make_network("cifar_resnet20", {});
  for (int bits = 2; bits <= 8; ++bits) expect_one_scheme(network, bits, 8);
  for (int error_bits = 2; error_bits < 8; ++error_bits) expect_one_scheme(network, 4, error_bits);
}

TEST(IntegerScheme, IsTheSameExecutedAndSimulatedWithErrorsOfMoreThanEightBits) {
  const Network network = make_network("cifar_resnet8", {});
  for (int error_bits = 9; error_bits <= 16; ++error_bits)
    expect_one_scheme(network, 8, error_bits);
  const Network depthwise = make_network("cifar_mobilenet_v2", {.input = ImageShape{3, 16, 16}});
  expect_one_scheme(depthwise, 8, 12);
  expect_one_scheme(depthwise, 4, 16);
}

TEST(IntegerScheme, IsTheSameExecutedAndSimulatedInMobileNetV2AtEveryWidth) {
  const Network network = make_network("cifar_mobilenet_v2", {.input = ImageShape{3, 16, 16}});
  for (int bits = 2; bits <= 8; ++bits) expect_one_scheme(network, bits, 8);
}

TEST(IntegerScheme, IsTheSameExecutedAndSimulatedWithPoolingAndLargeKernels) {
  const Network network = make_network("resnet18", {.classes = 7, .input = ImageShape{3, 33, 33}});
  expect_one_scheme(network, 4, 8);
}

// At full precision nothing is left to execute, and so nothing is rounded to halves, pools
// included.
TEST(IntegerScheme, InFloatThroughoutNoExecutorRounds) {
  const Network network = make_network("resnet18", {.classes = 5, .input = ImageShape{3, 64, 64}});
  const at::Tensor images = torch::randn({2, 3, 64, 64}).contiguous(at::MemoryFormat::ChannelsLast);
  const auto scores = [&](Executor executor) {
    NetworkModel model(network, 1);
    set_executor(*model, executor);
    model->eval();
    const torch::NoGradGuard no_grad;
    return model->forward(images);
  };
  EXPECT_TRUE(at::equal(scores(Executor::integer), scores(Executor::simulate)));
}

}  // namespace
}  // namespace bitcycle
