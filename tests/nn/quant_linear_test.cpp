#include "bitcycle/nn/quant_linear.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>

namespace bitcycle {
namespace {

struct Outcome {
  at::Tensor output, input_gradient, weight_gradient, bias_gradient;
};

Outcome step(Executor executor, LayerBits bits) {
  torch::manual_seed(4);
  QuantLinear linear(torch::nn::LinearOptions(37, 11));
  set_executor(*linear, executor);
  linear->set_precision(bits, RandomKey(5));
  at::Tensor x = torch::randn({9, 37}).requires_grad_();
  const at::Tensor y = linear->forward(x);
  y.backward(torch::randn(y.sizes()));
  return {y.detach(), x.grad(), linear->weight.grad(), linear->bias.grad()};
}

double similarity(const at::Tensor& a, const at::Tensor& b) {
  return at::cosine_similarity(a.flatten(), b.flatten(), 0).item<double>();
}

TEST(QuantLinearTest, StandsInASequential) {
  QuantLinear first(torch::nn::LinearOptions(37, 11)), second(torch::nn::LinearOptions(11, 5));
  torch::nn::Sequential sequence(first, second);
  const at::Tensor x = torch::randn({9, 37});
  EXPECT_TRUE(sequence->forward(x).equal(second->forward(first->forward(x))));
}

TEST(QuantLinearTest, ExecutedAtEightBitsIsCloseToFloat) {
  const Outcome integer = step(Executor::integer, {8, 8, 8});
  const Outcome exact = step(Executor::simulate, {});
  EXPECT_GT(similarity(integer.output, exact.output), 0.999);
  EXPECT_GT(similarity(integer.input_gradient, exact.input_gradient), 0.999);
  EXPECT_GT(similarity(integer.weight_gradient, exact.weight_gradient), 0.999);
  EXPECT_TRUE(at::allclose(integer.bias_gradient, exact.bias_gradient));
}

TEST(QuantLinearTest, ExecutedAndSimulatedInIntegersGiveTheSameBytes) {
  for (int error_bits = 2; error_bits <= 16; ++error_bits) {
    const int bits = 2 + error_bits % 7;
    const Outcome executed = step(Executor::integer, {bits, bits, error_bits});
    const Outcome simulated = step(Executor::oracle, {bits, bits, error_bits});
    EXPECT_TRUE(executed.output.equal(simulated.output));
    EXPECT_TRUE(executed.input_gradient.equal(simulated.input_gradient));
    EXPECT_TRUE(executed.weight_gradient.equal(simulated.weight_gradient));
    EXPECT_TRUE(executed.bias_gradient.equal(simulated.bias_gradient));
  }
}

TEST(QuantLinearTest, WidthsThatNoKernelSupportsAreSimulated) {
  for (const LayerBits bits : {LayerBits{9, 9, 8}, LayerBits{8, 8, 17}}) {
    EXPECT_TRUE(step(Executor::integer, bits).output.equal(step(Executor::simulate, bits).output));
  }
}

// Large enough for LibTorch to use its threads.
TEST(QuantLinearTest, DoesNotDependOnTheNumberOfThreads) {
  for (const Executor executor : {Executor::integer, Executor::simulate}) {
    const auto run = [&](int threads) {
      const int before = at::get_num_threads();
      at::set_num_threads(threads);
      torch::manual_seed(4);
      QuantLinear linear(torch::nn::LinearOptions(130, 421));
      set_executor(*linear, executor);
      linear->set_precision({6, 6, 8}, RandomKey(5));
      at::Tensor x = torch::randn({35, 20, 130}).requires_grad_();
      const at::Tensor y = linear->forward(x);
      y.backward(torch::randn(y.sizes()));
      at::set_num_threads(before);
      return std::vector<at::Tensor>{y.detach(), x.grad(), linear->weight.grad(),
                                     linear->bias.grad()};
    };
    const auto expected = run(1);
    for (const int threads : {2, 3, 7}) {
      const auto actual = run(threads);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_TRUE(actual[i].equal(expected[i])) << i << " on " << threads << " threads";
      }
    }
  }
}

// Its own weight, and the same tensor as a transposed view of somebody else's.
TEST(QuantLinearTest, TiedToAWeightIsTheLayerThatOwnsIt) {
  for (const Executor executor : {Executor::simulate, Executor::integer}) {
    QuantLinear owner(torch::nn::LinearOptions(37, 11).bias(false));
    QuantLinear tied(torch::nn::LinearOptions(37, 11).bias(false), WeightOwner::caller);
    EXPECT_TRUE(tied->parameters().empty());
    at::Tensor shared = owner->weight.detach().t().contiguous().requires_grad_();
    for (QuantLinear* linear : {&owner, &tied}) {
      set_executor(**linear, executor);
      (*linear)->set_precision({6, 6, 6}, RandomKey(5));
    }
    const at::Tensor x = torch::randn({9, 37}), error = torch::randn({9, 11});
    const at::Tensor y = tied->forward(x, shared.t());
    const at::Tensor expected = owner->forward(x);
    y.backward(error);
    expected.backward(error);
    EXPECT_TRUE(y.equal(expected));
    EXPECT_TRUE(shared.grad().t().equal(owner->weight.grad()));
  }
}

// The first of each row sets the range, so that the codes of the others are the largest.
at::Tensor with_largest_codes(at::Tensor rows) {
  const torch::NoGradGuard no_grad;
  rows.fill_(1).select(1, 0).zero_();
  return rows;
}

// All products have the same sign and nearly the largest size: 32 bits do not hold their sums.
TEST(QuantLinearTest, VeryLargeLayersExecuteToo) {
  for (const auto& [in, out] : {std::pair(70000, 2), std::pair(2, 70000)}) {
    const auto outcome = [&, in = in, out = out](Executor executor) {
      torch::manual_seed(4);
      QuantLinear linear(torch::nn::LinearOptions(in, out));
      set_executor(*linear, executor);
      linear->set_precision({8, 8, 8}, RandomKey(5));
      with_largest_codes(linear->weight);
      at::Tensor x = with_largest_codes(torch::empty({2, in})).requires_grad_();
      EXPECT_TRUE(linear->executes(x));
      const at::Tensor y = linear->forward(x);
      y.backward(torch::ones(y.sizes()));
      return Outcome{y.detach(), x.grad(), linear->weight.grad(), linear->bias.grad()};
    };
    const Outcome executed = outcome(Executor::integer);
    const Outcome simulated = outcome(Executor::oracle);
    EXPECT_TRUE(executed.output.equal(simulated.output));
    EXPECT_TRUE(executed.input_gradient.equal(simulated.input_gradient));
    EXPECT_TRUE(executed.weight_gradient.equal(simulated.weight_gradient));
  }
}

// What a second call with changed weights gives, given how they were changed.
template <typename Change>
bool notices(Change change) {
  torch::manual_seed(4);
  QuantLinear linear(torch::nn::LinearOptions(37, 11));
  set_executor(*linear, Executor::integer);
  linear->set_precision({8, 8, 8}, RandomKey(5));
  const at::Tensor x = torch::randn({9, 37});
  const at::Tensor before = linear->forward(x);
  change(linear, before);
  return !linear->forward(x).equal(before);
}

TEST(QuantLinearTest, CodesAreMadeAnewWhereWeightsMayHaveChanged) {
  // Not seen by LibTorch's version counter.
  const auto double_weights = [](QuantLinear& linear) {
    float* w = linear->weight.data_ptr<float>();
    std::transform(w, w + linear->weight.numel(), w, [](float v) { return 2 * v; });
  };
  EXPECT_TRUE(notices([&](QuantLinear& linear, const at::Tensor&) {
    linear->set_precision({8, 8, 8}, RandomKey(5));
    double_weights(linear);
  }));
  EXPECT_TRUE(notices([&](QuantLinear& linear, const at::Tensor& y) {
    y.sum().backward();
    double_weights(linear);
  }));
  EXPECT_TRUE(notices([&](QuantLinear& linear, const at::Tensor&) {
    const torch::NoGradGuard no_grad;
    linear->weight.mul_(2);
  }));
  EXPECT_FALSE(notices([&](QuantLinear& linear, const at::Tensor&) { double_weights(linear); }))
      << "within a step codes are made once";
}

TEST(QuantLinearTest, CallsAtOtherBitsInBetweenDoNotChangeTheGradients) {
  const auto gradients = [](bool in_between) {
    torch::manual_seed(4);
    QuantLinear linear(torch::nn::LinearOptions(37, 11));
    set_executor(*linear, Executor::integer);
    linear->set_precision({8, 8, 8}, RandomKey(5));
    at::Tensor x = torch::randn({9, 37}).requires_grad_();
    const at::Tensor y = linear->forward(x);
    if (in_between) {
      const torch::NoGradGuard no_grad;
      linear->set_precision({4, 4, 8}, RandomKey(5));
      linear->forward(x);
    }
    y.sum().backward();
    return x.grad();
  };
  EXPECT_TRUE(gradients(true).equal(gradients(false)));
}

TEST(QuantLinearTest, WhatIsNotFiniteReachesTheOutput) {
  for (const Executor executor : {Executor::integer, Executor::simulate}) {
    QuantLinear linear(torch::nn::LinearOptions(37, 11));
    set_executor(*linear, executor);
    linear->set_precision({8, 8, 8}, RandomKey(5));
    const torch::NoGradGuard no_grad;
    at::Tensor x = torch::randn({9, 37});
    EXPECT_TRUE(linear->forward(x).isfinite().all().item<bool>());
    x[3][7] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(linear->forward(x).isfinite().all().item<bool>());
  }
}

}  // namespace
}  // namespace bitcycle
