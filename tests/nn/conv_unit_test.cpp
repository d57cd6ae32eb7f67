#include "bitcycle/nn/conv_unit.h"

#include "bitcycle/base/error.h"

#include "quant/made_again.h"
#include "quant/pending_norm.h"
#include "quant/sample_rows.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>

namespace bitcycle {
namespace {

struct Case {
  int in, out, kernel, stride, groups;
  bool residual;
  Activation activation;
};

const Case kCases[] = {
    {3, 16, 3, 1, 1, false, Activation::relu},   {16, 16, 3, 1, 1, true, Activation::relu},
    {16, 32, 3, 2, 1, false, Activation::relu},  {16, 24, 1, 1, 1, false, Activation::none},
    {24, 24, 3, 1, 24, false, Activation::relu}, {24, 24, 3, 2, 24, false, Activation::relu},
    {7, 5, 5, 1, 1, true, Activation::none},     {12, 8, 3, 2, 4, false, Activation::relu}};

at::Tensor pictures(std::int64_t channels) {
  return torch::randn({6, channels, 9, 8}).contiguous(at::MemoryFormat::ChannelsLast);
}

struct Outcome {
  at::Tensor output, input_gradient, weight_gradient, norm_gradient, residual_gradient;
};

// One step of a unit on fixed data, at the given bits.
Outcome step(const Case& c, Executor executor, LayerBits bits) {
  torch::manual_seed(3);
  const auto options = torch::nn::Conv2dOptions(c.in, c.out, c.kernel)
                           .stride(c.stride)
                           .padding(c.kernel / 2)
                           .groups(c.groups)
                           .bias(false);
  ConvUnit unit(ConvUnitOptions{options, c.activation});
  set_executor(*unit, executor);
  unit->conv->set_precision(bits, RandomKey(5));
  at::Tensor x = pictures(c.in).requires_grad_();
  at::Tensor residual = c.residual ? pictures(c.out).requires_grad_() : at::Tensor();
  const at::Tensor y = unit->forward(x, residual);
  y.backward(torch::randn(y.sizes()));
  return {y.detach(), x.grad(), unit->conv->weight.grad(), unit->norm->weight.grad(),
          c.residual ? residual.grad() : at::Tensor()};
}

double similarity(const at::Tensor& a, const at::Tensor& b) {
  return at::cosine_similarity(a.flatten(), b.flatten(), 0).item<double>();
}

TEST(ConvUnitTest, StandsInASequential) {
  torch::manual_seed(3);
  ConvUnit first(ConvUnitOptions{torch::nn::Conv2dOptions(3, 16, 3).padding(1).bias(false)});
  ConvUnit second(ConvUnitOptions{torch::nn::Conv2dOptions(16, 8, 1).bias(false)});
  torch::nn::Sequential sequence(first, second);
  sequence->eval();
  const at::Tensor x = pictures(3);
  EXPECT_TRUE(sequence->forward(x).equal(second->forward(first->forward(x))));
}

TEST(ConvUnitTest, RefusesASecondDerivative) {
  for (const Executor executor : {Executor::integer, Executor::simulate}) {
    ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(16, 16, 3).padding(1).bias(false)});
    set_executor(*unit, executor);
    unit->conv->set_precision({4, 4, 8}, RandomKey(5));
    const at::Tensor y = unit->forward(pictures(16).requires_grad_());
    EXPECT_THROW(y.sum().backward({}, /*retain_graph=*/true, /*create_graph=*/true), Error);
    EXPECT_NO_THROW(y.sum().backward());
  }
}

// At 8 bits the integer unit must be close to the same unit in float, in everything it computes.
TEST(ConvUnitTest, ExecutedAtEightBitsIsCloseToFloat) {
  for (const Case& c : kCases) {
    const Outcome integer = step(c, Executor::integer, {8, 8, 8});
    const Outcome exact = step(c, Executor::simulate, {});
    EXPECT_GT(similarity(integer.output, exact.output), 0.999);
    EXPECT_GT(similarity(integer.input_gradient, exact.input_gradient), 0.99);
    EXPECT_GT(similarity(integer.weight_gradient, exact.weight_gradient), 0.99);
    EXPECT_GT(similarity(integer.norm_gradient, exact.norm_gradient), 0.99);
    if (!c.residual) continue;
    EXPECT_GT(similarity(integer.residual_gradient, exact.residual_gradient), 0.99);
  }
}

TEST(ConvUnitTest, ExecutedAndSimulatedInIntegersGiveTheSameBytes) {
  for (const Case& c : kCases) {
    for (const auto& [bits, error_bits] :
         {std::pair(2, 8), std::pair(5, 8), std::pair(8, 8), std::pair(8, 12), std::pair(4, 16)}) {
      const Outcome executed = step(c, Executor::integer, {bits, bits, error_bits});
      const Outcome simulated = step(c, Executor::oracle, {bits, bits, error_bits});
      EXPECT_TRUE(executed.output.equal(simulated.output));
      // Other groupings than one and depthwise take the offsets' sum in another order.
      EXPECT_TRUE(c.groups == 4 ? at::allclose(executed.input_gradient, simulated.input_gradient)
                                : executed.input_gradient.equal(simulated.input_gradient));
      EXPECT_TRUE(executed.weight_gradient.equal(simulated.weight_gradient));
      EXPECT_TRUE(executed.norm_gradient.equal(simulated.norm_gradient));
    }
  }
}

// Errors of 16 bits leave only the rounding of weights, activations and halves, whose codes are the
// same: what differs from 8 bits comes nearer to float.
TEST(ConvUnitTest, WiderErrorsComeNearerToTheGradientOfUnroundedErrors) {
  for (const Case& c : kCases) {
    const Outcome exact = step(c, Executor::integer, {8, 8, 16});
    const auto distance = [&](int error_bits) {
      const Outcome rounded = step(c, Executor::integer, {8, 8, error_bits});
      EXPECT_TRUE(rounded.output.equal(exact.output));
      return (rounded.weight_gradient - exact.weight_gradient).norm().item<double>();
    };
    const double at_8 = distance(8), at_12 = distance(12);
    EXPECT_LT(at_12, at_8 / 8);
    EXPECT_GT(at_12, 0.0);
  }
}

// Frozen statistics: the unit is affine in the convolution's output.
TEST(ConvUnitTest, GradientsWithRunningStatisticsAreCloseToFloat) {
  const auto gradient = [](Executor executor, LayerBits bits) {
    torch::manual_seed(3);
    ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(16, 16, 3).padding(1).bias(false)});
    set_executor(*unit, executor);
    unit->conv->set_precision(bits, RandomKey(5));
    unit->norm->running_mean.uniform_(-0.5, 0.5);
    unit->norm->running_var.uniform_(0.5, 2.0);
    unit->eval();
    at::Tensor x = pictures(16).requires_grad_();
    const at::Tensor y = unit->forward(x);
    y.backward(torch::randn(y.sizes()));
    return std::pair(x.grad(), unit->norm->weight.grad());
  };
  const auto [x, gamma] = gradient(Executor::integer, {8, 8, 8});
  const auto [float_x, float_gamma] = gradient(Executor::simulate, {});
  EXPECT_GT(similarity(x, float_x), 0.99);
  EXPECT_GT(similarity(gamma, float_gamma), 0.99);
}

// Two passes at different bits share the memory of the weight codes.
TEST(ConvUnitTest, BackwardUsesTheBitsOfItsOwnForward) {
  const auto gradient = [](bool disturbed) {
    torch::manual_seed(3);
    ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(16, 16, 3).padding(1).bias(false)});
    set_executor(*unit, Executor::integer);
    unit->conv->set_precision({3, 3, 8}, RandomKey(5));
    at::Tensor x = pictures(16).requires_grad_();
    const at::Tensor y = unit->forward(x);
    if (disturbed) {
      const torch::NoGradGuard no_grad;
      unit->conv->set_precision({8, 8, 8}, RandomKey(6));
      unit->forward(x);
    }
    y.backward(torch::ones(y.sizes()));
    return x.grad();
  };
  EXPECT_TRUE(gradient(false).equal(gradient(true)));
}

// Gradients of the first of two units, whose output the second reads and, if asked for, the loss.
enum class Readers { one, two };
std::pair<at::Tensor, at::Tensor> first_gradients(Executor executor, LayerBits bits,
                                                  Readers readers) {
  torch::manual_seed(3);
  const auto conv = torch::nn::Conv2dOptions(16, 16, 3).padding(1).bias(false);
  ConvUnit first(ConvUnitOptions{conv}), second(ConvUnitOptions{conv});
  for (ConvUnit& unit : {std::ref(first), std::ref(second)}) {
    set_executor(*unit, executor);
    unit->conv->set_precision(bits, RandomKey(5));
  }
  const at::Tensor x = pictures(16), weight = torch::randn(x.sizes());
  UnitTensor middle;
  at::Tensor y;
  if (executor == Executor::simulate) {
    middle.values = first->forward(x);
    y = second->forward(middle.values);
  } else {
    middle = first->execute({x}, {}, Delivery::pending).output;
    y = second->execute(middle, {}, Delivery::ready).output.values;
  }
  at::Tensor loss = (y * weight).sum();
  if (readers == Readers::two) loss = loss + (ready(middle) * weight.flip(0)).sum();
  loss.backward();
  return {first->conv->weight.grad(), first->norm->bias.grad()};
}

// Batch norm's sums are taken where the second unit makes its gradient, and hold for that alone.
TEST(ConvUnitTest, PendingOutputsMayHaveFurtherReaders) {
  for (const Readers readers : {Readers::one, Readers::two}) {
    const auto [weight, bias] = first_gradients(Executor::integer, {8, 8, 8}, readers);
    const auto [float_weight, float_bias] = first_gradients(Executor::simulate, {}, readers);
    EXPECT_GT(similarity(weight, float_weight), 0.98);
    EXPECT_GT(similarity(bias, float_bias), 0.98);
    EXPECT_NEAR(bias.norm().item<double>() / float_bias.norm().item<double>(), 1.0, 0.05);
  }
}

TEST(ConvUnitTest, FewerBitsAreFurtherFromFloat) {
  const Outcome exact = step(kCases[1], Executor::simulate, {});
  double previous = 0;
  for (int bits = 2; bits <= 8; ++bits) {
    const Outcome integer = step(kCases[1], Executor::integer, {bits, bits, 8});
    const double now = similarity(integer.output, exact.output);
    EXPECT_GT(now, previous);
    previous = now;
  }
}

TEST(ConvUnitTest, GeometriesThatNoKernelTakesAreSimulated) {
  const auto plain = [] { return torch::nn::Conv2dOptions(6, 4, 3).padding(1).bias(false); };
  const torch::nn::Conv2dOptions cases[] = {plain().dilation({1, 2}), plain().dilation({2, 1}),
                                            plain().stride({1, 2}),   plain().padding({1, 0}),
                                            plain().padding(0),       plain().kernel_size({3, 1}),
                                            plain().bias(true)};
  for (const auto& options : cases) {
    const auto outcome = [&](Executor executor) {
      torch::manual_seed(3);
      ConvUnit unit(ConvUnitOptions{options});
      set_executor(*unit, executor);
      unit->conv->set_precision({4, 4, 8}, RandomKey(5));
      at::Tensor x = pictures(6).requires_grad_();
      EXPECT_FALSE(unit->executes(x));
      const at::Tensor y = unit->forward(x);
      y.sum().backward();
      return std::pair(y.detach(), x.grad());
    };
    const auto [asked, asked_gradient] = outcome(Executor::integer);
    const auto [simulated, simulated_gradient] = outcome(Executor::simulate);
    EXPECT_TRUE(asked.equal(simulated));
    EXPECT_TRUE(asked_gradient.equal(simulated_gradient));
  }
}

TEST(ConvUnitTest, WidthsThatNoKernelSupportsAreSimulated) {
  for (const LayerBits bits : {LayerBits{}, LayerBits{9, 9, 8}, LayerBits{4, 4, 17}}) {
    const Outcome asked = step(kCases[1], Executor::integer, bits);
    const Outcome simulated = step(kCases[1], Executor::simulate, bits);
    EXPECT_TRUE(asked.output.equal(simulated.output));
    EXPECT_TRUE(asked.weight_gradient.equal(simulated.weight_gradient));
  }
}

// In a network the parts are registered where their names say, and the unit itself is told nothing.
TEST(ConvUnitTest, EvaluatesWhenItsPartsAreToldTo) {
  for (const Executor executor : {Executor::simulate, Executor::integer, Executor::oracle}) {
    ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(6, 6, 3).padding(1).bias(false)});
    set_executor(*unit, executor);
    unit->conv->set_precision({8, 8, 8}, RandomKey(5));
    unit->forward(pictures(6));
    unit->conv->eval();
    unit->norm->eval();
    std::vector<at::Tensor> before;
    for (const at::Tensor& buffer : unit->buffers()) before.push_back(buffer.clone());
    const at::Tensor large = 10 * pictures(6), y = unit->forward(large);
    EXPECT_TRUE(unit->forward(large).equal(y));
    const auto after = unit->buffers();
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(after[i].equal(before[i]));
  }
}

// The first of several calls in a step has the step's own noise.
TEST(ConvUnitTest, DrawsOtherNoiseAtEveryCallOfAStep) {
  for (const Executor executor : {Executor::simulate, Executor::integer}) {
    torch::manual_seed(3);
    ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(6, 6, 3).padding(1).bias(false)});
    set_executor(*unit, executor);
    const at::Tensor x = pictures(6), error = torch::randn(x.sizes());
    const auto gradient = [&] {
      at::Tensor input = x.detach().clone().requires_grad_();
      unit->forward(input).backward(error);
      return input.grad();
    };
    unit->conv->set_precision({8, 8, 4}, RandomKey(5));
    const at::Tensor first = gradient(), second = gradient();
    EXPECT_FALSE(first.equal(second));
    unit->conv->set_precision({8, 8, 4}, RandomKey(5));
    {
      const torch::NoGradGuard no_grad;  // looking does not count
      unit->forward(x);
    }
    EXPECT_TRUE(gradient().equal(first));
    EXPECT_TRUE(gradient().equal(second));
  }
}

// Note [Poison]: three places where integer codes would hide what is not finite.
TEST(ConvUnitTest, WhatIsNotFiniteReachesTheOutput) {
  const float bad[] = {std::numeric_limits<float>::infinity(), std::nanf("")};
  for (const Executor executor : {Executor::simulate, Executor::integer, Executor::oracle}) {
    for (const float value : bad) {
      for (const bool training : {true, false}) {
        const auto output = [&](float weight, float pixel, float beta) {
          ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(6, 6, 3).padding(1).bias(false)});
          set_executor(*unit, executor);
          unit->conv->set_precision({8, 8, 8}, RandomKey(5));
          const torch::NoGradGuard no_grad;
          unit->forward(pictures(6));
          unit->train(training);
          unit->conv->weight[2][3][1][1] = weight;
          unit->norm->bias[4] = beta;
          at::Tensor x = pictures(6);
          x[1][2][3][4] = pixel;
          return unit->forward(x).sum().item<double>();
        };
        EXPECT_TRUE(std::isfinite(output(0.5f, 0.5f, 0.5f)));
        EXPECT_FALSE(std::isfinite(output(value, 0.5f, 0.5f)));
        // In evaluation simulated layers clamp infinity as they clamp all that is too large.
        const bool clamped = executor == Executor::simulate && !training && std::isinf(value);
        EXPECT_EQ(std::isfinite(output(0.5f, value, 0.5f)), clamped);
        EXPECT_FALSE(std::isfinite(output(0.5f, 0.5f, value)));
      }
    }
  }
}

TEST(ConvUnitTest, ErrorsThatAreNotFiniteReachTheWeightGradient) {
  for (const Executor executor : {Executor::simulate, Executor::integer, Executor::oracle}) {
    ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(6, 6, 3).padding(1).bias(false),
                                  Activation::none});
    set_executor(*unit, executor);
    unit->conv->set_precision({8, 8, 8}, RandomKey(5));
    const at::Tensor y = unit->forward(pictures(6));
    at::Tensor error = torch::randn(y.sizes());
    error[1][2][3][4] = std::numeric_limits<float>::infinity();
    y.backward(error);
    EXPECT_FALSE(unit->conv->weight.grad().isfinite().all().item<bool>());
  }
}

// Outputs beyond 65504, where halves end: to infinity, not to codes of 0.
TEST(ConvUnitTest, OutputsThatOverflowHalvesAreNotFinite) {
  ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(6, 6, 1).bias(false)});
  set_executor(*unit, Executor::integer);
  unit->conv->set_precision({8, 8, 8}, RandomKey(5));
  const torch::NoGradGuard no_grad;
  unit->conv->weight.fill_(1.0f);
  const auto sum = [&](float pixel) {
    const at::Tensor x =
        at::full({2, 6, 4, 4}, pixel, at::kHalf).contiguous(at::MemoryFormat::ChannelsLast);
    return unit->forward(x).to(at::kFloat).sum().item<double>();
  };
  EXPECT_TRUE(std::isfinite(sum(10'000)));
  EXPECT_FALSE(std::isfinite(sum(20'000)));
}

TEST(HalfTest, GradientsPassTheWayInAndOutUnchanged) {
  at::Tensor x = torch::randn({4, 3, 5, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  x.requires_grad_();
  const auto [a, b] = fork_half(enter_half(x, 128));
  const at::Tensor error = torch::randint(-8, 8, {4, 3, 5, 5}).to(at::kFloat) / 1024;
  (leave_half(a, 128) + leave_half(b, 128)).backward(error);
  EXPECT_TRUE(x.grad().equal(2 * error));
}

// Note [Made again]: also those that were led around the unit.
TEST(HalfTest, SamplesInPlaceComeBackAsTheyWere) {
  torch::manual_seed(4);
  ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(16, 16, 3).padding(1).bias(false)});
  set_executor(*unit, Executor::integer);
  unit->conv->set_precision({4, 4, 8}, RandomKey(5));
  for (const std::vector<int>& some : {std::vector{1, 2, 5}, std::vector{0, 1, 2, 3, 4, 5}}) {
    const auto rows = std::make_shared<const SampleRows>(SampleRows{some, 6});
    const at::Tensor x = pictures(16).to(at::kHalf).requires_grad_();
    const SplitSamples ways = split_samples(x, rows, Around::the_others);
    const auto part = [&](const at::Tensor& values) {
      return UnitTensor{.values = values, .rows = rows, .kept = Kept::as_values};
    };
    const UnitTensor passed =
        unit->execute(part(ways.first), part(ways.second), Delivery::ready).output;
    const at::Tensor skip = at::zeros({6}).requires_grad_();
    const UnitTensor joined = join_in_place({.values = ways.around}, passed, skip);
    const at::Tensor before = joined.values.detach().clone();
    const at::Tensor read = leave_half(joined.values, 1);
    ASSERT_NE(again_of(joined), nullptr);
    again_of(joined)->let_go();
    EXPECT_EQ(joined.values.storage().data(), nullptr);
    read.backward(at::ones(x.sizes()));
    EXPECT_TRUE(joined.values.equal(before));
    EXPECT_TRUE(skip.grad().index({1}).item<float>() != 0);
  }
}

TEST(HalfTest, WhatIsMadeOfValuesThatMayGoStays) {
  ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(16, 16, 3).padding(1).bias(false)});
  set_executor(*unit, Executor::integer);
  unit->conv->set_precision({4, 4, 8}, RandomKey(5));
  const auto rows = std::make_shared<const SampleRows>(SampleRows{{0, 2}, 6});
  const at::Tensor x = with_samples(pictures(16).to(at::kHalf), 2);
  UnitTensor part{.values = x, .rows = rows, .kept = Kept::as_values};
  const auto again = [&] { return again_of(unit->execute(part, part, Delivery::ready).output); };
  EXPECT_NE(again(), nullptr);
  part.stored = std::make_shared<StoredInput>(StoredInput{{}, {}, std::make_shared<MadeAgain>(x)});
  EXPECT_EQ(again(), nullptr);
  part.stored = nullptr;
  const torch::NoGradGuard no_grad;
  EXPECT_EQ(again(), nullptr);
}

// Models reshape: what a gradient is multiplied by must not be guessed from a tensor's size.
TEST(HalfTest, UnitsMayReadTensorsOfAnotherBatchThanTheyWere) {
  const auto gradients = [](Executor executor, LayerBits bits) {
    torch::manual_seed(3);
    const auto conv = torch::nn::Conv2dOptions(16, 16, 1).bias(false);
    ConvUnit first(ConvUnitOptions{conv}), second(ConvUnitOptions{conv});
    for (ConvUnit& unit : {std::ref(first), std::ref(second)}) {
      set_executor(*unit, executor);
      unit->conv->set_precision(bits, RandomKey(5));
    }
    const bool half = executor != Executor::simulate;
    const at::Tensor x = pictures(16).requires_grad_();
    const auto scaled = [](const at::Tensor& values) {
      return UnitTensor{.values = values, .gradient_scale = 64};
    };
    at::Tensor y = half ? enter_half(x, 64) : x;
    y = half ? first->execute(scaled(y), {}, Delivery::ready).output.values : first->forward(y);
    y = y.permute({0, 2, 3, 1}).reshape({-1, 1, 1, 16}).permute({0, 3, 1, 2});
    y = half ? second->execute(scaled(y), {}, Delivery::ready).output.values : second->forward(y);
    if (half) y = leave_half(y, 64);
    (y * torch::randn(y.sizes())).mean().backward();
    return std::pair(x.grad(), first->conv->weight.grad());
  };
  const auto [x, weight] = gradients(Executor::integer, {8, 8, 8});
  const auto [float_x, float_weight] = gradients(Executor::simulate, {});
  EXPECT_GT(similarity(x, float_x), 0.98);
  EXPECT_NEAR((x.norm() / float_x.norm()).item<double>(), 1.0, 0.05);
  EXPECT_NEAR((weight.norm() / float_weight.norm()).item<double>(), 1.0, 0.05);
}

}  // namespace
}  // namespace bitcycle
