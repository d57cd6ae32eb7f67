// Range batch norm and WAGEUBN's batch norm, forward and backward, against an independent program
// (tests/golden/schemes) that differentiates by differences.

#include "bitcycle/quant/schemes.h"

#include "quant/golden_values.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

struct Outcome {
  torch::nn::BatchNorm2d norm{2};
  at::Tensor x, output;
};

// A training step on the pictures of the golden values.
Outcome train_step(const Scheme& scheme) {
  Outcome result;
  result.norm->weight.set_data(golden_tensor("pictures", "gamma"));
  result.norm->bias.set_data(golden_tensor("pictures", "beta"));
  result.x = golden_pictures("pictures", "x").detach().requires_grad_();
  const Range range = scheme.norm.range ? scheme.norm.range(result.x.detach()) : Range{};
  result.output = scheme.norm.apply(result.x, {*result.norm, range, golden_key()});
  result.output.backward(golden_pictures("pictures", "error"));
  return result;
}

void expect_golden(const Outcome& outcome, const std::string& group) {
  EXPECT_TRUE(at::allclose(outcome.output, golden_pictures(group, "output"), 1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(outcome.x.grad(), golden_pictures(group, "of_x"), 1e-3, 1e-5))
      << (outcome.x.grad() - golden_pictures(group, "of_x")).abs().max();
  EXPECT_TRUE(
      at::allclose(outcome.norm->weight.grad(), golden_tensor(group, "of_gamma"), 1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(outcome.norm->bias.grad(), golden_tensor(group, "of_beta"), 1e-4, 1e-5));
}

TEST(RangeNormTest, ForwardAndBackwardFollowTheEquations) {
  expect_golden(train_step(sbm_banner_scheme()), "range_norm");
}

TEST(RangeNormTest, KeepsATenthOfItsStatistics) {
  const Outcome outcome = train_step(sbm_banner_scheme());
  EXPECT_TRUE(near(outcome.norm->running_mean, 0.9 * golden_tensor("range_norm", "mean")));
  const at::Tensor spread = 0.1 + 0.9 * golden_tensor("range_norm", "spread");
  EXPECT_TRUE(near(outcome.norm->running_var, spread.square()));
  EXPECT_EQ(outcome.norm->num_batches_tracked.item<int>(), 1);
}

TEST(RangeNormTest, EvaluatesByTheRunningStatistics) {
  Outcome outcome = train_step(sbm_banner_scheme());
  outcome.norm->eval();
  const Range range{-2, 2};
  const at::Tensor found =
      sbm_banner_scheme().norm.apply(outcome.x.detach(), {*outcome.norm, range, {}});
  const double step = 4.0 / 255;
  const at::Tensor x = ((outcome.x.detach().clamp(-2, 2) + 2) / step).round() * step - 2;
  const auto column = [](const at::Tensor& v) { return v.detach().view({1, 2, 1, 1}); };
  const at::Tensor expected = (x - column(outcome.norm->running_mean)) /
                                  (column(outcome.norm->running_var).sqrt() + 1e-5) *
                                  column(outcome.norm->weight) +
                              column(outcome.norm->bias);
  EXPECT_TRUE(at::allclose(found, expected, 1e-4, 1e-5));
}

// kappa / sqrt(2 ln 1024) = 0.145089; of 16 chunks of normal values the spread is 0.95 of the
// standard deviation.
TEST(RangeNormTest, MeasuresNormalValuesNearTheirDeviation) {
  torch::manual_seed(1);
  torch::nn::BatchNorm2d norm(1);
  const at::Tensor x = 3 * torch::randn({16, 1, 32, 32});
  const Range range{x.min().item<float>(), x.max().item<float>()};
  sbm_banner_scheme().norm.apply(x, {*norm, range, {}});
  const double spread = (norm->running_var.sqrt().item<double>() - 0.1) / 0.9;
  EXPECT_NEAR(spread / 3, 0.95, 0.02);
}

TEST(RangeNormTest, TakesFewAndUnevenNumbersOfPixels) {
  for (const int side : {1, 2, 3, 5}) {
    torch::nn::BatchNorm2d norm(3);
    const at::Tensor x = torch::randn({2, 3, side, side}).requires_grad_();
    const at::Tensor y = sbm_banner_scheme().norm.apply(x, {*norm, {-3, 3}, {}});
    y.square().sum().backward();
    EXPECT_TRUE(y.isfinite().all().item<bool>()) << side;
    EXPECT_TRUE(x.grad().isfinite().all().item<bool>()) << side;
  }
}

TEST(WageubnNormTest, ForwardAndBackwardFollowTheEquations) {
  expect_golden(train_step(wageubn_full_scheme()), "wageubn_norm");
}

TEST(WageubnNormTest, ItsOutputsLieOnTheGridOfTheirFactors) {
  const at::Tensor output = train_step(wageubn_full_scheme()).output.detach() * 0x1p14;
  EXPECT_TRUE(output.equal(output.round()));
}

TEST(WageubnNormTest, RunningStatisticsAreAMeanAtFirst) {
  torch::nn::BatchNorm2d norm(1);
  const at::Tensor x = torch::randn({4, 1, 3, 3});
  for (const double factor : {1.0, 3.0}) {
    wageubn_full_scheme().norm.apply(factor * x + factor, {*norm, {}, {}});
  }
  EXPECT_TRUE(near(norm->running_mean, 2 * (x.mean() + 1).view(1)));
  EXPECT_TRUE(near(norm->running_var, 5 * x.var(/*unbiased=*/false).view(1)));
}

TEST(WageubnNormTest, AConstantChannelHasFiniteGradients) {
  torch::nn::BatchNorm2d norm(2);
  const at::Tensor x = at::ones({2, 2, 3, 3}).requires_grad_();
  wageubn_full_scheme().norm.apply(x, {*norm, {}, {}}).sum().backward();
  EXPECT_TRUE(x.grad().isfinite().all().item<bool>());
}

}  // namespace
}  // namespace bitcycle
