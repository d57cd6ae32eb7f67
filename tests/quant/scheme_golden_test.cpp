// The quantizers of the papers' schemes against published values, and against those of an
// independent program (tests/golden/schemes).

#include "bitcycle/quant/quantizer.h"
#include "bitcycle/quant/schemes.h"

#include "quant/golden_values.h"

#include <cmath>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

at::Tensor floats(const std::vector<float>& values) {
  return torch::tensor(values);
}

// tensorpack's DoReFa.
TEST(DorefaTest, WeightsAreThoseOfTheReference) {
  const auto& weight = dorefa_scheme().weight;
  const at::Tensor w = floats({-.9f, .1f, .35f, .7f, .02f, -.01f, .05f, -.04f});
  EXPECT_TRUE(near(weight.quantize(w, 3), floats({-1.f, .1428571f, .4285714f, .7142857f, .1428571f,
                                                  -.1428571f, .1428571f, -.1428571f})));
  EXPECT_TRUE(near(weight.quantize(w, 4), floats({-1.f, .2f, .4666667f, .8666667f, .0666667f,
                                                  -.0666667f, .0666667f, -.0666667f})));
  EXPECT_TRUE(near(weight.quantize(w, 8), floats({-1.f, .1372549f, .4666667f, .8431373f, .027451f,
                                                  -.0117647f, .0666667f, -.0588235f})));
  EXPECT_TRUE(weight.quantize(w, 32).equal(w));
  for (int bits = 1; bits <= 8; ++bits) {
    EXPECT_TRUE(near(weight.quantize(w, bits), golden_at("dorefa", "weight", bits))) << bits;
  }
}

TEST(DorefaTest, GradientOfWeightsDifferentiatesAllButTheRounding) {
  const auto& weight = dorefa_scheme().weight;
  const at::Tensor w = golden_tensor("weights"), go = torch::arange(1, 9, at::kFloat);
  const at::Tensor expected = floats({3.5073297f, 2.7643983f, 3.714313f, 3.5445566f, 6.9775449f,
                                      8.3755659f, 9.7480803f, 11.1506874f});
  EXPECT_TRUE(near(weight.gradient(go, w, 4), expected));
  EXPECT_TRUE(near(golden_tensor("dorefa", "weight_gradient"), expected));
  EXPECT_TRUE(weight.gradient(go, w, 1).equal(go));
}

TEST(DorefaTest, LargestWeightsThatAreEqualShareTheirGradient) {
  const at::Tensor w = floats({.5f, -.5f, .1f}), go = floats({1, 2, 3});
  const at::Tensor t = w.tanh();
  const double m = std::tanh(.5), sum = (go * t).sum().item<double>(), slope = 1 - m * m;
  const at::Tensor shared = dorefa_scheme().weight.gradient(go, w, 4);
  EXPECT_NEAR(shared[0].item<double>(), (1 / m - sum / (m * m) / 2) * slope, 1e-5);
  EXPECT_NEAR(shared[1].item<double>(), (2 / m + sum / (m * m) / 2) * slope, 1e-5);
}

TEST(DorefaTest, WeightsThatAreAllZeroHaveNoGradient) {
  const at::Tensor zeros = at::zeros({3});
  EXPECT_TRUE(dorefa_scheme().weight.gradient(floats({1, 2, 3}), zeros, 4).equal(zeros));
}

TEST(DorefaTest, ActivationsAreClippedAndTheirGradientIsMasked) {
  const auto& activation = dorefa_scheme().activation;
  const at::Tensor x = floats({-.5f, .05f, .2f, .55f, .7f, 1.2f, 3.f});
  EXPECT_TRUE(near(activation.quantize(x, {}, 3),
                   floats({0.f, 0.f, .1428571f, .5714286f, .7142857f, 1.f, 1.f})));
  EXPECT_TRUE(activation.gradient(at::ones_like(x), x, {}, 3).equal(floats({0, 1, 1, 1, 1, 0, 0})));
  EXPECT_FALSE(activation.range);
}

TEST(DorefaTest, ErrorsHaveARangePerSample) {
  const at::Tensor rows = golden_tensor("rows");
  for (int bits = 1; bits <= 8; ++bits) {
    const at::Tensor expected = golden_at("dorefa", "error", bits).view_as(rows);
    EXPECT_TRUE(near(dorefa_scheme().error(rows, bits, golden_key()), expected)) << bits;
  }
  EXPECT_TRUE(dorefa_scheme().error(at::zeros({2, 3}), 8, {1, 2}).abs().max().item<float>() <
              1e-20);
}

TEST(DorefaTest, ErrorsAreUnbiased) {
  const at::Tensor rows = floats({-.01f, .003f, .02f, 0.f}).view({1, 4}).expand({20000, 4});
  const at::Tensor mean = dorefa_scheme().error(rows.contiguous(), 4, {7, 9}).mean(0);
  EXPECT_TRUE(at::allclose(mean, rows[0], 0, 5e-5)) << mean;
}

TEST(BannerTest, RangesAreMeansOfTheSamplesExtremes) {
  const at::Tensor rows = golden_tensor("rows");
  const Range range = sbm_banner_scheme().activation.range(rows);
  const at::Tensor expected = golden_tensor("sbm-banner", "range");
  EXPECT_NEAR(range.low, expected[0].item<float>(), 1e-7);
  EXPECT_NEAR(range.high, expected[1].item<float>(), 1e-7);
  for (int bits = 1; bits <= 8; ++bits) {
    EXPECT_TRUE(near(sbm_banner_scheme().activation.quantize(rows, range, bits).flatten(),
                     golden_at("sbm-banner", "activation", bits)));
  }
}

TEST(BannerTest, TheErrorForTheWeightsHas16Bits) {
  const at::Tensor rows = golden_tensor("rows").flatten();
  for (int bits = 1; bits <= 8; ++bits) {
    EXPECT_TRUE(near(sbm_banner_scheme().error(rows, bits, golden_key()),
                     golden_at("sbm-banner", "error", bits)));
    EXPECT_TRUE(near(sbm_banner_scheme().weight_error(rows, bits, golden_key()),
                     golden_tensor("sbm-banner", "weight_error")));
  }
}

TEST(BannerTest, BiasesHaveTheBitsOfBothOperands) {
  EXPECT_TRUE(near(sbm_banner_scheme().bias(golden_tensor("weights"), {2, 3, 8}),
                   golden_tensor("sbm-banner", "bias_2_3")));
}

// yang-yk/wageubn.
TEST(WageubnTest, TensorsAreThoseOfTheReference) {
  const Scheme& full = wageubn_full_scheme();
  const at::Tensor w = floats({-1.3f, -.9f, .1f, .35f, .7f, .999f, .004f});
  EXPECT_TRUE(near(full.weight.quantize(w, 8), floats({-.9921875f, -.8984375f, .1015625f, .3515625f,
                                                       .703125f, .9921875f, .0078125f})));
  EXPECT_TRUE(
      near(full.weight.quantize(w, 4), floats({-.875f, -.875f, .125f, .375f, .75f, .875f, 0.f})));
  EXPECT_TRUE(near(full.activation.quantize(floats({0.f, .3f, 1.1f, 2.003f}), {}, 8),
                   floats({0.f, .296875f, 1.1015625f, 2.f})));
  const at::Tensor e = floats({-.0113f, .003f, .02f, 7e-5f, 3.1e-6f});
  EXPECT_TRUE(near(1e3 * full.input_gradient(e, 8, {}),
                   floats({-11.3525391f, 3.0517578f, 15.625f, .1220703f, 0.f})));
  EXPECT_TRUE(near(1e3 * full.error(e, 8, {}),
                   floats({-11.3525391f, 3.0517578f, 15.5029297f, .0696182f, .002861f})));
}

TEST(WageubnTest, TensorsAreThoseOfTheEquationsAtEveryWidth) {
  const Scheme &full = wageubn_full_scheme(), &lite = wageubn_lite_scheme();
  const at::Tensor w = golden_tensor("weights"), x = golden_tensor("rows").flatten();
  for (int bits = 2; bits <= 8; ++bits) {
    for (const Scheme* scheme : {&full, &lite}) {
      EXPECT_TRUE(near(scheme->weight.quantize(w, bits), golden_at("wageubn", "weight", bits)));
      EXPECT_TRUE(
          near(scheme->activation.quantize(x, {}, bits), golden_at("wageubn", "activation", bits)));
    }
    EXPECT_TRUE(near(full.error(x, bits, {}), golden_at("wageubn", "flag", bits))) << bits;
    EXPECT_TRUE(near(full.input_gradient(x, bits, {}), golden_at("wageubn", "shift", bits)));
    EXPECT_TRUE(near(lite.error(x, bits, {}), golden_at("wageubn", "shift_lite", bits))) << bits;
    EXPECT_TRUE(near(lite.weight_gradient(x, bits, golden_key()),
                     golden_tensor("wageubn", "gradient_lite")));
    EXPECT_TRUE(
        near(full.update.gradient(x, {ParameterUpdate::Role::weight, bits, 0, golden_key()}),
             golden_at("wageubn", "gradient", bits)))
        << bits;
  }
}

TEST(WageubnTest, WeightGradientsKeepTheirProportionsAndNoMore) {
  const Scheme& full = wageubn_full_scheme();
  const at::Tensor e = floats({-.0113f, .003f, .02f, 7e-5f});
  const ParameterUpdate update{ParameterUpdate::Role::weight, 8, 0, {3, 4}};
  const at::Tensor levels = full.update.gradient(e, update) * 0x1p14;
  EXPECT_TRUE(near(levels, levels.round()));
  EXPECT_LE((levels - floats({-92.57f, 24.58f, 127.f, .573f})).abs().max().item<float>(), 1.f);
  EXPECT_TRUE(full.update.gradient(1024 * e, update).equal(full.update.gradient(e, update)));
}

TEST(WageubnTest, HasFewerLevelsOfGradientsTowardsTheEnd) {
  const at::Tensor e = torch::linspace(-1, 1, 101);
  for (const auto& [progress, most] :
       {std::pair(0.59, 127), std::pair(0.6, 31), std::pair(0.85, 7), std::pair(0.95, 1)}) {
    const at::Tensor found =
        wageubn_full_scheme().update.gradient(e, {ParameterUpdate::Role::weight, 8, progress, {}});
    EXPECT_EQ((found.abs().max() * 0x1p14).item<float>(), static_cast<float>(most)) << progress;
  }
}

TEST(WageubnTest, TheLearningRateHas10Bits) {
  EXPECT_DOUBLE_EQ(wageubn_full_scheme().update.rate(0.05), 26.0 / 512);
  EXPECT_DOUBLE_EQ(wageubn_full_scheme().update.rate(3.0), 511.0 / 512);
}

TEST(WageubnTest, TensorsOfZerosStayAndWhatIsNotFiniteIsNotHidden) {
  const Scheme& full = wageubn_full_scheme();
  const at::Tensor zeros = at::zeros({5}), damaged = floats({1.f, INFINITY, 2.f});
  EXPECT_TRUE(full.error(zeros, 8, {}).equal(zeros));
  EXPECT_TRUE(full.input_gradient(zeros, 8, {}).equal(zeros));
  EXPECT_TRUE(wageubn_lite_scheme().weight_gradient(zeros, 8, {}).equal(zeros));
  EXPECT_FALSE(full.error(damaged, 8, {}).isfinite().all().item<bool>());
  EXPECT_FALSE(full.input_gradient(damaged, 8, {}).isfinite().all().item<bool>());
  EXPECT_FALSE(wageubn_lite_scheme().weight_gradient(damaged, 8, {}).isfinite().all().item<bool>());
}

// Their inverse is beyond what float holds.
TEST(WageubnTest, TensorsOfTinyNumbersAreFinite) {
  const at::Tensor tiny = floats({0.f, 0x1p-126f, -0x1p-140f});
  for (const Scheme* scheme : {&wageubn_lite_scheme(), &wageubn_full_scheme()}) {
    EXPECT_TRUE(scheme->error(tiny, 8, {}).isfinite().all().item<bool>());
  }
  EXPECT_TRUE(wageubn_full_scheme().input_gradient(tiny, 8, {}).isfinite().all().item<bool>());
  EXPECT_TRUE(wageubn_lite_scheme().weight_gradient(tiny, 8, {}).isfinite().all().item<bool>());
}

// Whatever the device, noise is the same.
TEST(NoiseTest, IsThatOfTheFusedQuantizers) {
  const at::Tensor x = torch::randn({3, 5, 2, 7}).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(noise_like(x, {5, 6}).equal(portable::noise_like(x, {5, 6})));
  EXPECT_EQ(noise_like(x, {5, 6})[0][1][0][0].item<float>(), noise(NoiseKey{5, 6}, 1));
}

}  // namespace
}  // namespace bitcycle
