// A scheme of one's own in layers of one's own: DoReFa (Zhou et al. 2016), whose weights pass
// through tanh, whose activations are clipped to 0..1, and whose errors have a range per sample.

#include "bitcycle/quant/scheme.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/backend.h"
#include "bitcycle/nn/conv_unit.h"
#include "bitcycle/nn/lstm_layer.h"
#include "bitcycle/nn/quant_linear.h"
#include "bitcycle/quant/schemes.h"

#include <set>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

at::Tensor rounded(const at::Tensor& x, int bits) {
  const double steps = (1 << bits) - 1;
  return (x * steps).round() / steps;
}

at::Tensor weight(const at::Tensor& w, int bits) {
  const at::Tensor t = w.tanh();
  return 2 * rounded(t / (2 * t.abs().max()) + 0.5, bits) - 1;
}

// Only the rounding is passed straight through.
at::Tensor weight_gradient(const at::Tensor& gradient, const at::Tensor& w, int) {
  const at::AutoGradMode grad(true);
  const at::Tensor leaf = w.detach().requires_grad_();
  const at::Tensor t = leaf.tanh();
  (t / t.abs().max()).backward(gradient);
  return leaf.grad();
}

Range unit_range(const at::Tensor&) {
  return {0, 1};
}
at::Tensor activation(const at::Tensor& x, Range range, int bits) {
  return rounded(x.clamp(range.low, range.high), bits);
}
at::Tensor activation_gradient(const at::Tensor& gradient, const at::Tensor& x, Range range, int) {
  return gradient * ((x >= range.low) & (x <= range.high));
}

at::Tensor error(const at::Tensor& e, int bits, NoiseKey) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(e.dim()), 1);
  sizes[0] = e.size(0);
  const at::Tensor m = e.abs().flatten(1).amax(1).clamp_min(1e-30).view(sizes);
  return 2 * m * (rounded((e / (2 * m) + 0.5).clamp(0, 1), bits) - 0.5);
}

Scheme dorefa() {
  return {.name = "dorefa",
          .weight = {weight, weight_gradient},
          .activation = {unit_range, activation, activation_gradient},
          .error = error,
          .weight_error = {},
          .weight_gradient = {}};
}

at::Tensor given_weights() {
  return torch::tensor({-.9f, .1f, .35f, .7f, .02f, -.01f, .05f, -.04f}).view({2, 4});
}

bool near(const at::Tensor& a, const at::Tensor& b) {
  return at::allclose(a, b, 1e-5, 1e-6);
}

// The expected values are those of tensorpack's DoReFa.
TEST(OwnSchemeTest, DecidesTheOutputAndEveryGradientOfALayer) {
  QuantLinear layer(torch::nn::LinearOptions(4, 2).bias(false));
  layer->weight.set_data(given_weights());
  set_scheme(*layer, dorefa());
  layer->set_precision({4, 3, 4}, RandomKey(1));
  const at::Tensor x = torch::tensor({-1.f, .2f, .55f, 1.5f}).view({1, 4}).requires_grad_();
  const at::Tensor y = layer->forward(x);
  const at::Tensor wq =
      torch::tensor({-1.f, .2f, .4666667f, .8666667f, .0666667f, -.0666667f, .0666667f, -.0666667f})
          .view({2, 4});
  const at::Tensor xq = torch::tensor({0.f, .1428571f, .5714286f, 1.f}).view({1, 4});
  EXPECT_TRUE(near(y, xq.mm(wq.t()))) << y;

  const at::Tensor e = torch::tensor({-.01f, .02f}).view({1, 2});
  const at::Tensor eq = torch::tensor({-.0093333f, .02f}).view({1, 2});
  y.backward(e);
  EXPECT_TRUE(near(x.grad(), eq.mm(wq) * torch::tensor({0.f, 1.f, 1.f, 0.f})));
  EXPECT_TRUE(near(layer->weight.grad(), weight_gradient(eq.t().mm(xq), given_weights(), 4)));
}

TEST(OwnSchemeTest, HasTheGradientOfItsWeightsFromItsOwnRule) {
  const at::Tensor expected = torch::tensor({3.5073297f, 2.7643983f, 3.714313f, 3.5445566f,
                                             6.9775449f, 8.3755659f, 9.7480803f, 11.1506874f});
  const at::Tensor ones_to_eight = torch::arange(1, 9, at::kFloat);
  EXPECT_TRUE(near(weight_gradient(ones_to_eight, given_weights().flatten(), 4), expected));
}

TEST(OwnSchemeTest, HoldsInConvolutionsToo) {
  ConvUnit unit(
      ConvUnitOptions{torch::nn::Conv2dOptions(3, 5, 3).padding(1).bias(false), Activation::none});
  set_scheme(*unit, dorefa());
  unit->conv->set_precision({4, 3, 4}, RandomKey(1));
  const at::Tensor x = torch::randn({2, 3, 6, 6}).requires_grad_();
  const at::Tensor y = unit->conv->forward(x), e = torch::randn_like(y);
  y.backward(e);
  const at::Tensor xq = activation(x.detach(), {0, 1}, 3).requires_grad_();
  const at::Tensor wq = weight(unit->conv->weight.detach(), 4).requires_grad_();
  const at::Tensor plain = at::conv2d(xq, wq, {}, 1, 1);
  plain.backward(error(e, 4, {}));
  EXPECT_TRUE(near(y, plain));
  EXPECT_TRUE(near(x.grad(), activation_gradient(xq.grad(), x.detach(), {0, 1}, 3)));
  EXPECT_TRUE(
      near(unit->conv->weight.grad(), weight_gradient(wq.grad(), unit->conv->weight.detach(), 4)));
}

// A window of a recurrent layer is one node of autograd, with its own way of calling the layer.
TEST(OwnSchemeTest, HoldsInEveryCallOfARecurrentLayer) {
  QuantLinear layer(torch::nn::LinearOptions(4, 2));
  set_scheme(*layer, dorefa());
  layer->set_precision({4, 3, 4}, RandomKey(1));
  const at::Tensor x = torch::randn({3, 4}), e = torch::randn({3, 2});
  const auto calls = layer->calls(x, 2);
  {
    const torch::NoGradGuard no_grad;
    EXPECT_TRUE(near(calls->forward(x), layer->forward(x)));
    calls->forward(-x);
    const at::Tensor wq = weight(layer->weight, 4), eq = error(e, 4, {});
    EXPECT_TRUE(near(calls->backward(e, InputGradient::wanted),
                     activation_gradient(eq.mm(wq), -x, {0, 1}, 3)));
    EXPECT_TRUE(near(calls->backward(2 * e, InputGradient::wanted),
                     activation_gradient(2 * eq.mm(wq), x, {0, 1}, 3)));
    const at::Tensor sum =
        eq.t().mm(activation(-x, {0, 1}, 3)) + 2 * eq.t().mm(activation(x, {0, 1}, 3));
    EXPECT_TRUE(near(calls->gradients().weight, weight_gradient(sum, layer->weight, 4)));
  }
}

// The error for the weights may be quantized otherwise than that for the input (Banner et al.
// 2018), and the gradient of the weights once more (Yang et al. 2020).
TEST(OwnSchemeTest, MayTreatTheErrorForTheWeightsAndTheirGradientApart) {
  Scheme apart = sbm_scheme();
  apart.weight_error = [](const at::Tensor& e, int, NoiseKey) { return 3 * e; };
  apart.weight_gradient = [](const at::Tensor& g, int bits, NoiseKey) { return g + bits; };
  QuantLinear layer(torch::nn::LinearOptions(4, 2).bias(false)), plain(layer->options);
  plain->weight.set_data(layer->weight.detach().clone());
  set_scheme(*layer, apart);
  const at::Tensor x = torch::randn({3, 4}), e = torch::randn({3, 2});
  std::vector<at::Tensor> input_gradients;
  for (QuantLinear each : {layer, plain}) {
    each->set_precision({0, 0, 7}, RandomKey(1));
    const at::Tensor input = x.clone().requires_grad_();
    each->forward(input).backward(e);
    input_gradients.push_back(input.grad());
  }
  EXPECT_TRUE(input_gradients[0].equal(input_gradients[1]));
  EXPECT_TRUE(near(layer->weight.grad(), 3 * e.t().mm(x) + 7));
}

TEST(OwnSchemeTest, NoiseOfItsQuantizersIsIndependent) {
  std::vector<NoiseKey> keys;
  Scheme spying = sbm_scheme();
  const auto spy = [&](const at::Tensor& e, int, NoiseKey key) {
    keys.push_back(key);
    return e;
  };
  spying.error = spying.weight_error = spying.weight_gradient = spy;
  QuantLinear layer(torch::nn::LinearOptions(4, 2));
  set_scheme(*layer, spying);
  for (const int step : {1, 2}) {
    layer->set_precision({8, 8, 8}, RandomKey(step));
    for (int call = 0; call < 2; ++call) {
      layer->forward(torch::randn({3, 4}).requires_grad_()).sum().backward();
    }
  }
  std::set<std::uint32_t> different;
  for (const NoiseKey& key : keys) different.insert(key.first);
  EXPECT_EQ(keys.size(), 12u);  // of 2 steps, 2 calls, 3 quantizers
  EXPECT_EQ(different.size(), keys.size());
}

TEST(OwnSchemeTest, MayTreatTheErrorForTheWeightsApartInARecurrentLayer) {
  Scheme apart = sbm_scheme();
  apart.weight_error = [](const at::Tensor& e, int, NoiseKey) { return 3 * e; };
  QuantLinear layer(torch::nn::LinearOptions(4, 2));
  set_scheme(*layer, apart);
  layer->set_precision({0, 0, 8}, RandomKey(1));
  const torch::NoGradGuard no_grad;
  const at::Tensor x = torch::randn({3, 4}), e = torch::randn({3, 2});
  const auto calls = layer->calls(x, 1);
  calls->forward(x);
  calls->backward(e, InputGradient::not_wanted);
  EXPECT_TRUE(near(calls->gradients().weight, 3 * e.t().mm(x)));
}

TEST(OwnSchemeTest, IsNotAskedWhereARoleIsInFloat) {
  Scheme silent = dorefa();
  silent.weight_gradient = [](const at::Tensor&, int, NoiseKey) { return at::Tensor(); };
  QuantLinear layer(torch::nn::LinearOptions(4, 2).bias(false));
  set_scheme(*layer, silent);
  const at::Tensor x = torch::randn({3, 4}).requires_grad_(), e = torch::randn({3, 2});
  layer->forward(x).backward(e);
  EXPECT_TRUE(near(x.grad(), e.mm(layer->weight.detach())));
  EXPECT_TRUE(near(layer->weight.grad(), e.t().mm(x.detach())));
}

TEST(SchemeTest, IsRefusedToAnExecutorThatCannotCarryItOut) {
  QuantLinear layer(torch::nn::LinearOptions(4, 2));
  const auto message = [&](const Scheme& scheme, Executor executor) -> std::string {
    try {
      set_scheme(*layer, scheme, executor);
      return "";
    } catch (const Error& refused) {
      return refused.what();
    }
  };
  EXPECT_EQ(message(dorefa(), Executor::integer),
            "the scheme \"dorefa\" has no integer kernels: expected the executor simulate");
  EXPECT_EQ(message(sbm_scheme(), Executor::oracle),
            "the scheme \"sbm\" has no integer kernels: expected the executor simulate");
  EXPECT_EQ(message({.name = "mine", .weight = {weight, {}}}, Executor::simulate),
            "the scheme \"mine\" is incomplete: expected weight.quantize, activation.quantize and "
            "error");
  EXPECT_NE(message(integer_scheme(), Executor::simulate), "");
  EXPECT_EQ(message(sbm_scheme(), Executor::simulate), "");
  EXPECT_EQ(message(integer_scheme(), Executor::integer), "");
  EXPECT_EQ(message(integer_scheme(), Executor::oracle), "");
}

TEST(SchemeTest, NamesOfRecipesAreTheirs) {
  for (const SchemeName each :
       {SchemeName::sbm, SchemeName::integer, SchemeName::dorefa, SchemeName::sbm_banner,
        SchemeName::wageubn_lite, SchemeName::wageubn_full}) {
    EXPECT_EQ(scheme_of(each).name, name(each));
    EXPECT_EQ(scheme_of(each).kernels != Scheme::Kernels::none, has_kernels(each));
  }
}

}  // namespace
}  // namespace bitcycle
