#include "bitcycle/train/optimizer.h"

#include <limits>

#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

namespace bitcycle {
namespace {

using Name = OptimizerRecipe::Name;

constexpr int kSteps = 7;
constexpr Name kAllNames[] = {Name::sgd,       Name::adam,     Name::adamw,      Name::fairseq_adam,
                              Name::bert_adam, Name::nesterov, Name::fairseq_nag};

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

TEST(OptimizerTest, NesterovFollowsLibTorch) {
  expect_same_path(
      {.name = Name::nesterov, .momentum = 0.9, .weight_decay = 0.01}, 0.01, [](auto parameters) {
        return torch::optim::SGD(
            parameters,
            torch::optim::SGDOptions(0.01).momentum(0.9).weight_decay(0.01).nesterov(true));
      });
}

TEST(OptimizerTest, AdamWFollowsLibTorch) {
  expect_same_path({.name = Name::adamw, .weight_decay = 0.1}, 0.02, [](auto parameters) {
    return torch::optim::AdamW(parameters, torch::optim::AdamWOptions(0.02).weight_decay(0.1));
  });
}

// Rates that change, with a rate of 0 just before the change of hands.
TEST(OptimizerTest, StateRestoredIntoAnotherOptimizerContinuesThePath) {
  const double rates[] = {0.01, 0.0, 0.02, 0.005};
  for (const Name name : kAllNames) {
    for (const int handed_over : {1, 2, 3}) {
      torch::manual_seed(5);
      torch::nn::Linear a(4, 3), b(4, 3);
      Optimizer first(*a, {.name = name}), second(*b, {.name = name});
      const auto train = [&](torch::nn::Linear& layer, Optimizer& optimizer, int step) {
        optimizer.zero_grad();
        layer->forward(torch::ones({2, 4})).square().sum().backward();
        optimizer.step(rates[step], step);
      };
      for (int step = 0; step < handed_over; ++step) train(a, first, step);
      {
        const torch::NoGradGuard no_grad;
        b->weight.copy_(a->weight);
        b->bias.copy_(a->bias);
        const NamedTensors from = first.state(), to = second.state();
        for (const auto& [key, tensor] : to) tensor.copy_(from.at(key));
      }
      for (int step = handed_over; step < 4; ++step) {
        train(a, first, step);
        train(b, second, step);
      }
      EXPECT_TRUE(a->weight.equal(b->weight));
      EXPECT_TRUE(a->bias.equal(b->bias));
    }
  }
}

// The last of the damaged, in the order of registration: the first on the way back from the loss.
TEST(OptimizerTest, NamesTheLastParameterThatAnUpdateLeavesNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto expect_names = [&](const OptimizerRecipe& recipe, double lr) {
    const auto damaged = [&](float weight, float bias) {
      torch::nn::Linear layer(4, 3);
      Optimizer optimizer(*layer, recipe);
      layer->weight.mutable_grad() = at::full({3, 4}, weight);
      layer->bias.mutable_grad() = at::full({3}, bias);
      return optimizer.step(lr, 0);
    };
    EXPECT_EQ(damaged(1, 1), std::nullopt);
    EXPECT_EQ(damaged(infinity, 1), "weight");
    EXPECT_EQ(damaged(1, infinity), "bias");
    EXPECT_EQ(damaged(infinity, std::numeric_limits<float>::quiet_NaN()), "bias");
  };
  // Clipping by a norm that is not finite must not make an update of nothing out of it.
  for (const Name name : kAllNames) {
    for (const double clip_norm : {0.0, 0.25}) {
      for (const double lr : {0.1, 0.0}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(name) << " " << clip_norm << " " << lr);
        expect_names({.name = name, .clip_norm = clip_norm}, lr);
      }
    }
  }
}

// Its square overflows; the update would be 0, now and ever after.
TEST(OptimizerTest, NamesAParameterThatAdamWouldNeverMoveAgain) {
  torch::nn::Linear layer(torch::nn::LinearOptions(4, 3).bias(false));
  Optimizer optimizer(*layer, {.name = OptimizerRecipe::Name::adam});
  layer->weight.mutable_grad() = at::full({3, 4}, 1e25);
  EXPECT_EQ(optimizer.step(0.1, 0), "weight");
}

struct LinearAndNorm : torch::nn::Module {
  torch::nn::Linear linear = register_module("linear", torch::nn::Linear(4, 3));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(3));
};

// With a gradient of zero, decay alone moves a parameter.
TEST(OptimizerTest, DecayOfWeightsSparesBiasesAndNorms) {
  for (const Name name : kAllNames) {
    LinearAndNorm model;
    const auto parameters = model.named_parameters();
    for (const auto& item : parameters) {
      item.value().detach().fill_(0.5);
      item.value().mutable_grad() = at::zeros_like(item.value());
    }
    Optimizer optimizer(
        model, {.name = name, .weight_decay = 0.1, .decay = OptimizerRecipe::Decay::weights});
    optimizer.step(0.1, 0);
    ASSERT_EQ(parameters.size(), 4U);
    for (const auto& item : parameters) {
      const bool stayed = item.value().eq(0.5).all().item<bool>();
      EXPECT_EQ(stayed, item.key() != "linear.weight") << item.key();
    }
  }
}

// SGD without momentum moves by the clipped gradient: 0.25 * g / 13.
TEST(OptimizerTest, ClipsAllGradientsByTheirCommonNormBeforeTheDecay) {
  torch::nn::Linear layer(2, 1);
  {
    const torch::NoGradGuard no_grad;
    layer->weight.fill_(1);
    layer->bias.fill_(1);
  }
  layer->weight.mutable_grad() = torch::tensor({{3.0f, 4.0f}});
  layer->bias.mutable_grad() = torch::tensor({12.0f});
  Optimizer optimizer(*layer, {.momentum = 0, .weight_decay = 0.5, .clip_norm = 0.25});
  optimizer.step(1, 0);
  const float scale = 0.25f / 13;
  EXPECT_TRUE(at::allclose(layer->weight, torch::tensor({{0.5f - 3 * scale, 0.5f - 4 * scale}})));
  EXPECT_TRUE(at::allclose(layer->bias, torch::tensor({0.5f - 12 * scale})));
}

TEST(OptimizerTest, GradientsWithinTheNormKeepTheirBytes) {
  const auto trained = [](double clip_norm) {
    torch::manual_seed(5);
    torch::nn::Linear layer(4, 3);
    Optimizer optimizer(*layer, {.clip_norm = clip_norm});
    layer->forward(torch::ones({2, 4})).square().sum().backward();
    optimizer.step(0.1, 0);
    return layer->weight;
  };
  EXPECT_TRUE(trained(0).equal(trained(1e6)));
  EXPECT_FALSE(trained(0).equal(trained(1e-3)));
}

}  // namespace
}  // namespace bitcycle
