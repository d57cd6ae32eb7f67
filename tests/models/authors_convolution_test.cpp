// The authors' quantizers against values of their code, and against ours.

#include "bitcycle/models/authors_convolution.h"

#include "bitcycle/models/float_reference.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/quant/quantizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::FloatNear;
using testing::Pointwise;

const ConvGeometry kPointwise{{1, 1}, {0, 0}, {1, 1}, 1};

at::Tensor tensor(std::vector<float> values, at::IntArrayRef shape) {
  return torch::tensor(values).view(shape);
}

std::vector<float> values(const at::Tensor& x) {
  const at::Tensor flat = x.detach().contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

auto near(std::vector<float> expected) {
  return Pointwise(FloatNear(1e-6), std::move(expected));
}

at::Tensor convolved(const at::Tensor& x, const at::Tensor& weight, LayerBits bits) {
  AuthorsRange running;
  return authors_convolution(x, weight, kPointwise, bits, running);
}

TEST(AuthorsConvolutionTest, WeightsAreRoundedPerOutputChannel) {
  const at::Tensor weight = tensor({-.9, .1, .35, .7, .02, -.01, .05, -.04}, {2, 4, 1, 1});
  const at::Tensor units = torch::eye(4).view({4, 4, 1, 1});  // 0 and 1 survive at every width
  const auto rounded = [&](int bits) {
    return values(convolved(units, weight, {bits, 8, 0}).flatten(1).t());
  };
  EXPECT_THAT(rounded(3), near({-.9, .0142857, .2428571, .7, .0242857, -.0142857, .05, -.04}));
  EXPECT_THAT(rounded(2), near({-.9, .1666667, .1666667, .7, .02, -.01, .05, -.04}));
}

TEST(AuthorsConvolutionTest, InputsAreRoundedOverTheBatchAndMoveTheRunningRange) {
  const at::Tensor x = tensor({0, .3, 1.1, .2, .5, 2, 0, .9}, {2, 1, 2, 2});
  const at::Tensor one = torch::ones({1, 1, 1, 1});  // a constant survives exactly
  AuthorsRange running;
  const at::Tensor y = authors_convolution(x, one, kPointwise, {3, 3, 0}, running);
  EXPECT_THAT(values(y), near({0, .2857143, 1.1428571, .2857143, .5714286, 2, 0, .8571429}));
  EXPECT_FLOAT_EQ(running.width.item<float>(), .2);
  authors_convolution(x, one, kPointwise, {8, 8, 0}, running);
  EXPECT_FLOAT_EQ(running.width.item<float>(), .38);
  EXPECT_FLOAT_EQ(running.low.item<float>(), 0);
}

// Weights of 1 keep what they multiply, and units at one bit pick weights: nothing else is rounded.
TEST(AuthorsConvolutionTest, ForwardGivesTheBytesOfOurQuantizers) {
  torch::manual_seed(3);
  const at::Tensor x = torch::randn({4, 6, 7, 7}), weight = torch::randn({8, 6, 1, 1});
  const ConvGeometry by_channel{{1, 1}, {0, 0}, {1, 1}, 6};
  const at::Tensor ones = torch::ones({6, 1, 1, 1}), units = torch::eye(6).view({6, 6, 1, 1});
  for (const int bits : {2, 3, 5, 8}) {
    AuthorsRange running;
    EXPECT_EQ(values(authors_convolution(x, ones, by_channel, {bits, bits, 0}, running)),
              values(quantize_tensor(x, tensor_range(x), bits)))
        << bits;
    EXPECT_EQ(values(convolved(units, weight, {bits, 1, 0}).flatten(1).t()),
              values(quantize_weight(weight, bits)))
        << bits;
  }
}

// With 4 bits between 0 and 15, whole numbers are levels, and noise of less than a half moves none.
TEST(AuthorsConvolutionTest, ErrorsOnTheGridGiveTheStraightThroughGradients) {
  torch::manual_seed(3);
  at::Tensor x = torch::randn({3, 4, 2, 2}).requires_grad_();
  at::Tensor weight = torch::randn({2, 4, 1, 1}).requires_grad_();
  at::Tensor error = torch::randint(0, 16, {3, 2, 2, 2}).to(at::kFloat);
  error.view(-1)[0] = 0, error.view(-1)[1] = 15;
  convolved(x, weight, {3, 3, 4}).backward(error);
  const at::Tensor xq = quantize_tensor(x.detach(), tensor_range(x.detach()), 3);
  const at::Tensor wq = quantize_weight(weight.detach(), 3);
  const at::Tensor dx = at::einsum("oc,nohw->nchw", {wq.flatten(1), error});
  const at::Tensor dw = at::einsum("nohw,nchw->oc", {error, xq});
  EXPECT_TRUE(at::allclose(x.grad(), dx, 1e-5, 1e-4));
  EXPECT_TRUE(at::allclose(weight.grad().flatten(1), dw, 1e-5, 1e-4));
}

TEST(AuthorsConvolutionTest, ErrorsAreRoundedStochasticallyAndWithoutBias) {
  torch::manual_seed(3);
  constexpr int kDraws = 20'000;
  const at::Tensor error = tensor({-.01, .003, .02, 0, .004, -.006, 0, .015}, {1, 1, 2, 4});
  at::Tensor x = torch::rand({kDraws, 1, 2, 4}).requires_grad_();
  convolved(x, torch::ones({1, 1, 1, 1}), {3, 3, 4}).backward(error.repeat({kDraws, 1, 1, 1}));
  const at::Tensor levels = (x.grad() + .01) / .002;
  EXPECT_TRUE(at::allclose(levels, levels.round(), 0, 1e-3));
  EXPECT_GT(at::std(x.grad().select(3, 1)).item<float>(), 0);  // 0.003 lies between two levels
  // A draw deviates by at most half a step, 0.001, in root mean square; five standard errors.
  EXPECT_TRUE(at::allclose(x.grad().mean(0), error[0], 0, 5 * .001 / std::sqrt(kDraws)));
}

TEST(AuthorsConvolutionTest, FloatErrorsPassUnchanged) {
  at::Tensor x = torch::rand({1, 1, 2, 2}).requires_grad_();
  const at::Tensor error = torch::randn({1, 1, 2, 2});
  convolved(x, torch::ones({1, 1, 1, 1}), {3, 3, 0}).backward(error);
  EXPECT_TRUE(at::equal(x.grad(), error));
}

TEST(FloatReferenceTest, TheAuthorsWayTrainsEveryParameterAndRoundsWhatIsScheduled) {
  torch::manual_seed(3);
  const Network network = make_network("cifar_resnet8");
  FloatReference model(network, LayerBits{3, 3, 8});
  const at::Tensor images = torch::randn({4, 3, 32, 32});
  const at::Tensor y = model->forward(images);
  y.sum().backward();
  for (const auto& parameter : model->named_parameters()) {
    EXPECT_TRUE(parameter.value().grad().defined()) << parameter.key();
  }
  FloatReference plain(network);
  const at::NoGradGuard no_gradient;
  auto target = plain->named_parameters();
  for (const auto& parameter : model->named_parameters()) {
    target[parameter.key()].copy_(parameter.value());
  }
  EXPECT_FALSE(at::allclose(plain->forward(images), y, 1e-2, 1e-2));
}

}  // namespace
}  // namespace bitcycle
