// What a scheme of one's own may put in place of a unit's norm and rectifier, and of a layer's bias
// and the gradient of its input.

#include "bitcycle/nn/conv_unit.h"
#include "bitcycle/nn/quant_linear.h"
#include "bitcycle/quant/schemes.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

ConvUnit small_unit() {
  return ConvUnit(ConvUnitOptions{torch::nn::Conv2dOptions(3, 4, 3).padding(1).bias(false)});
}

at::Tensor pictures() {
  return torch::randn({5, 3, 6, 6}).contiguous(at::MemoryFormat::ChannelsLast);
}

TEST(UnitSchemeTest, ARectifierStandsInPlaceOfTheReluBehindTheResidual) {
  ConvUnit unit = small_unit(), plain = small_unit();
  plain->conv->weight.set_data(unit->conv->weight.detach().clone());
  plain->activation = Activation::none;
  Scheme clipping = sbm_scheme();
  clipping.rectify = [](const at::Tensor& x) { return x.clamp(0, 1); };
  set_scheme(*unit, clipping);
  const at::Tensor x = pictures(), residual = torch::randn({5, 4, 6, 6});
  for (const int bits : {0, 8}) {
    for (ConvUnit each : {unit, plain}) each->conv->set_precision({bits, bits, 8}, RandomKey(1));
    EXPECT_TRUE(unit->forward(x, residual).equal(plain->forward(x, residual).clamp(0, 1)));
  }
  unit->activation = Activation::none;
  EXPECT_TRUE(unit->forward(x, residual).equal(plain->forward(x, residual)));
}

struct NormSpy {
  std::vector<Range> ranges;
  std::vector<std::uint32_t> noise;

  Scheme scheme() {
    Scheme spying = sbm_scheme();
    spying.norm = {.range =
                       [](const at::Tensor& x) {
                         return Range{x.min().item<float>(), x.max().item<float>()};
                       },
                   .average = {.keep = 0.5f, .take = 0.5f},
                   .apply =
                       [this](const at::Tensor& x, const NormCall& call) {
                         ranges.push_back(call.input_range);
                         noise.push_back(call.noise.first);
                         return 2 * x;
                       }};
    return spying;
  }
};

TEST(UnitSchemeTest, ANormStandsInPlaceOfBatchNormWhereTheConvolutionIsQuantized) {
  ConvUnit unit = small_unit();
  NormSpy spy;
  set_scheme(*unit, spy.scheme());
  const at::Tensor x = pictures(), residual = torch::randn({5, 4, 6, 6});
  unit->conv->set_precision({8, 8, 8}, RandomKey(1));
  const at::Tensor y = unit->conv->forward(x);
  EXPECT_TRUE(unit->forward(x, residual).equal((2 * y + residual).relu()));
  EXPECT_EQ(spy.ranges.size(), 1u);
  unit->conv->set_precision({}, RandomKey(1));
  unit->forward(x, residual);
  EXPECT_EQ(spy.ranges.size(), 1u);
}

TEST(UnitSchemeTest, ANormEvaluatesOverTheAverageOfItsInputsRanges) {
  ConvUnit unit = small_unit();
  NormSpy spy;
  set_scheme(*unit, spy.scheme());
  for (const int step : {1, 2}) {
    unit->conv->set_precision({8, 8, 8}, RandomKey(static_cast<std::uint64_t>(step)));
    unit->forward(step * pictures());
  }
  unit->eval();
  unit->forward(pictures());
  ASSERT_EQ(spy.ranges.size(), 3u);
  const auto extent = [&](std::size_t i) { return spy.ranges[i].high - spy.ranges[i].low; };
  EXPECT_NEAR(extent(2), (extent(0) + extent(1)) / 2, 1e-5);
  EXPECT_NEAR(spy.ranges[2].low, (spy.ranges[0].low + spy.ranges[1].low) / 2, 1e-5);
  const auto buffers = unit->named_buffers();
  EXPECT_EQ(buffers["norm.steps_tracked"].item<int>(), 2);
  EXPECT_NE(spy.noise[0], spy.noise[1]);
}

TEST(UnitSchemeTest, TheCallsOfAStepMoveTheNormsRangeOnce) {
  ConvUnit unit = small_unit();
  NormSpy spy;
  set_scheme(*unit, spy.scheme());
  unit->conv->set_precision({8, 8, 8}, RandomKey(1));
  unit->forward(pictures());
  unit->forward(3 * pictures());
  EXPECT_EQ(unit->named_buffers()["norm.steps_tracked"].item<int>(), 1);
  const float low = std::min(spy.ranges[0].low, spy.ranges[1].low);
  EXPECT_FLOAT_EQ(unit->named_buffers()["norm.running_zero"].item<float>(), low);
}

TEST(UnitSchemeTest, WithoutANormOfItsOwnAUnitHasNoFurtherBuffers) {
  ConvUnit unit = small_unit();
  set_scheme(*unit, dorefa_scheme());
  EXPECT_FALSE(unit->named_buffers().contains("norm.running_range"));
}

TEST(LayerSchemeTest, BiasesAreQuantizedWithAStraightGradient) {
  Scheme halving = sbm_scheme();
  halving.bias = [](const at::Tensor& bias, LayerBits bits) {
    return bias / (bits.weight + bits.activation);
  };
  QuantLinear layer(torch::nn::LinearOptions(4, 2));
  set_scheme(*layer, halving);
  layer->set_precision({3, 5, 8}, RandomKey(1));
  const at::Tensor y = layer->forward(at::zeros({3, 4}));
  EXPECT_TRUE(at::allclose(y, (layer->bias / 8).expand_as(y)));
  y.sum().backward();
  EXPECT_TRUE(layer->bias.grad().equal(3 * at::ones({2})));
  const auto calls = layer->calls(at::zeros({3, 4}), 1);
  EXPECT_TRUE(at::allclose(calls->forward(at::zeros({3, 4})), y));
}

TEST(LayerSchemeTest, TheGradientOfTheInputMayBeQuantizedAtTheErrorsBits) {
  Scheme adding = sbm_scheme();
  adding.input_gradient = [](const at::Tensor& g, int bits, NoiseKey) { return g + bits; };
  QuantLinear layer(torch::nn::LinearOptions(4, 2)), plain(layer->options);
  plain->weight.set_data(layer->weight.detach().clone());
  set_scheme(*layer, adding);
  std::vector<at::Tensor> gradients;
  const at::Tensor x = torch::randn({3, 4});
  for (QuantLinear each : {layer, plain}) {
    each->set_precision({3, 5, 7}, RandomKey(1));
    const at::Tensor input = x.clone().requires_grad_();
    each->forward(input).sum().backward();
    gradients.push_back(input.grad());
  }
  EXPECT_TRUE(gradients[0].equal(gradients[1] + 7));
  EXPECT_TRUE(layer->weight.grad().equal(plain->weight.grad()));
}

TEST(LayerSchemeTest, WithoutARangeNoneIsTracked) {
  QuantLinear layer(torch::nn::LinearOptions(4, 2));
  set_scheme(*layer, wageubn_lite_scheme());
  layer->set_precision({8, 8, 8}, RandomKey(1));
  layer->forward(torch::randn({3, 4}));
  EXPECT_EQ(layer->named_buffers()["steps_tracked"].item<int>(), 0);
}

}  // namespace
}  // namespace bitcycle
