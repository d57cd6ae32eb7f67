#include "bitcycle/nn/conv_unit.h"

#include "bitcycle/quant/integer_unit.h"

#include <gtest/gtest.h>

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
    {7, 5, 5, 1, 1, true, Activation::none}};

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
  unit->set_executor(executor);
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

TEST(ConvUnitTest, WidthsThatNoKernelSupportsAreSimulated) {
  for (const LayerBits bits : {LayerBits{}, LayerBits{9, 9, 8}, LayerBits{4, 4, 16}}) {
    const Outcome asked = step(kCases[1], Executor::integer, bits);
    const Outcome simulated = step(kCases[1], Executor::simulate, bits);
    EXPECT_TRUE(asked.output.equal(simulated.output));
    EXPECT_TRUE(asked.weight_gradient.equal(simulated.weight_gradient));
  }
}

TEST(HalfTest, GradientsPassTheWayInAndOutUnchanged) {
  at::Tensor x = torch::randn({4, 3, 5, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  x.requires_grad_();
  const auto [a, b] = fork_half(enter_half(x));
  const at::Tensor error = torch::randint(-8, 8, {4, 3, 5, 5}).to(at::kFloat) / 1024;
  (leave_half(a) + leave_half(b)).backward(error);
  EXPECT_TRUE(x.grad().equal(2 * error));
}

}  // namespace
}  // namespace bitcycle
