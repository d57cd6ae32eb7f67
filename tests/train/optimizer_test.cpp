#include "bitcycle/train/optimizer.h"

#include <limits>

#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

namespace bitcycle {
namespace {

constexpr int kSteps = 7;

// Trains two copies of a layer on the same errors, one by Bitcycle, one by LibTorch.
template <typename Theirs>
void expect_same_path(const OptimizerRecipe& recipe, double lr, const Theirs& make_theirs) {
  torch::manual_seed(5);
  torch::nn::Linear a(4, 3), b(4, 3);
  {
    const torch::NoGradGuard no_grad;
    b->weight.copy_(a->weight);
    b->bias.copy_(a->bias);
  }
  Optimizer ours(*a, recipe);
  auto theirs = make_theirs(b->parameters());
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor x = torch::randn({8, 4});
    ours.zero_grad();
    theirs.zero_grad();
    a->forward(x).square().sum().backward();
    b->forward(x).square().sum().backward();
    ours.step(lr, step);
    theirs.step();
  }
  EXPECT_TRUE(at::allclose(a->weight, b->weight, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(a->bias, b->bias, 1e-5, 1e-6));
}

TEST(OptimizerTest, SgdFollowsLibTorch) {
  expect_same_path({.momentum = 0.9, .weight_decay = 0.01}, 0.01, [](auto parameters) {
    return torch::optim::SGD(parameters,
                             torch::optim::SGDOptions(0.01).momentum(0.9).weight_decay(0.01));
  });
}

TEST(OptimizerTest, AdamFollowsLibTorch) {
  expect_same_path(
      {.name = OptimizerRecipe::Name::adam, .weight_decay = 0.01}, 0.02, [](auto parameters) {
        return torch::optim::Adam(parameters, torch::optim::AdamOptions(0.02).weight_decay(0.01));
      });
}

TEST(OptimizerTest, StateRestoredIntoAnotherOptimizerContinuesThePath) {
  for (const auto name : {OptimizerRecipe::Name::sgd, OptimizerRecipe::Name::adam}) {
    torch::manual_seed(5);
    torch::nn::Linear a(4, 3), b(4, 3);
    Optimizer first(*a, {.name = name}), second(*b, {.name = name});
    const auto train = [](torch::nn::Linear& layer, Optimizer& optimizer, int step) {
      optimizer.zero_grad();
      layer->forward(torch::ones({2, 4})).square().sum().backward();
      optimizer.step(0.01, step);
    };
    train(a, first, 0);
    {
      const torch::NoGradGuard no_grad;
      b->weight.copy_(a->weight);
      b->bias.copy_(a->bias);
      const NamedTensors from = first.state(), to = second.state();
      for (const auto& [key, tensor] : to) tensor.copy_(from.at(key));
    }
    train(a, first, 1);
    train(b, second, 1);
    EXPECT_TRUE(a->weight.equal(b->weight));
  }
}

// The last of the damaged, in the order of registration: the first on the way back from the loss.
TEST(OptimizerTest, NamesTheLastParameterThatAnUpdateLeavesNotFinite) {
  for (const auto name : {OptimizerRecipe::Name::sgd, OptimizerRecipe::Name::adam}) {
    const auto damaged = [&](float weight, float bias) {
      torch::nn::Linear layer(4, 3);
      Optimizer optimizer(*layer, {.name = name});
      layer->weight.mutable_grad() = at::full({3, 4}, weight);
      layer->bias.mutable_grad() = at::full({3}, bias);
      return optimizer.step(0.1, 0);
    };
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(damaged(1, 1), std::nullopt);
    EXPECT_EQ(damaged(infinity, 1), "weight");
    EXPECT_EQ(damaged(1, infinity), "bias");
    EXPECT_EQ(damaged(infinity, std::numeric_limits<float>::quiet_NaN()), "bias");
  }
}

// Its square overflows; the update would be 0, now and ever after.
TEST(OptimizerTest, NamesAParameterThatAdamWouldNeverMoveAgain) {
  torch::nn::Linear layer(torch::nn::LinearOptions(4, 3).bias(false));
  Optimizer optimizer(*layer, {.name = OptimizerRecipe::Name::adam});
  layer->weight.mutable_grad() = at::full({3, 4}, 1e25);
  EXPECT_EQ(optimizer.step(0.1, 0), "weight");
}

}  // namespace
}  // namespace bitcycle
