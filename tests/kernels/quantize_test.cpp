#include "bitcycle/kernels/quantize.h"

#include "kernels/elementwise.h"
#include "kernels/random_values.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

std::vector<float> quantized(std::vector<float> x, int bits) {
  quantize(x, make_grid(range_of(x), bits), x);
  return x;
}

void expect_near_all(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 5e-7f);
}

// Golden values of the papers' quantizer (weights of two output channels, then activations).
TEST(QuantizeTest, WeightsMatchTheReferenceAtEachWidth) {
  const std::vector<float> w = {-.9f, .1f, .35f, .7f, .02f, -.01f, .05f, -.04f};
  std::vector<float> q(w.size());
  quantize_rows(w, 2, 2, q);
  expect_near_all(q, {-.9f, .1666667f, .1666667f, .7f, .02f, -.01f, .05f, -.04f});
  quantize_rows(w, 2, 3, q);
  expect_near_all(q, {-.9f, .0142857f, .2428571f, .7f, .0242857f, -.0142857f, .05f, -.04f});
  quantize_rows(w, 2, 4, q);
  expect_near_all(q, {-.9f, .06f, .38f, .7f, .02f, -.01f, .05f, -.04f});
  quantize_rows(w, 2, 8, q);
  expect_near_all(q, {-.9f, .0976471f, .3486275f, .7f, .02f, -.01f, .05f, -.04f});
}

TEST(QuantizeTest, ActivationsMatchTheReference) {
  const std::vector<float> x = {0, .3f, 1.1f, .2f, .5f, 2, 0, .9f};
  expect_near_all(quantized(x, 3),
                  {0, .2857143f, 1.1428571f, .2857143f, .5714286f, 2, 0, .8571429f});
  expect_near_all(quantized(x, 8),
                  {0, .2980392f, 1.0980392f, .1960784f, .5019608f, 2, 0, .9019608f});
}

TEST(QuantizeTest, ConstantTensorsSurviveExactly) {
  const std::vector<float> x(37, 0.7f);
  for (int bits = 1; bits <= 8; ++bits) EXPECT_EQ(quantized(x, bits), x);
}

TEST(QuantizeTest, WideGridsAreTheIdentityUpToFloatRounding) {
  const auto x = random_values(1000, 3);
  for (int bits : {24, 32}) {
    const auto q = quantized(x, bits);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(q[i], x[i], 1e-6f);
  }
}

TEST(QuantizeTest, TiesGoToTheEvenLevel) {
  std::vector<float> x = {0.5f, 1.5f, 2.5f, 3.5f};
  quantize(x, Grid{0, 1, 255}, x);
  EXPECT_EQ(x, (std::vector<float>{0, 2, 2, 4}));
}

TEST(QuantizeTest, ValuesOutsideTheGridAreClampedAndNaNStays) {
  std::vector<float> x = {-5, 0.4f, 99, std::numeric_limits<float>::quiet_NaN()};
  quantize(x, Grid{0, 1, 3}, x);
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[1], 0);
  EXPECT_EQ(x[2], 3);
  EXPECT_TRUE(std::isnan(x[3]));
}

TEST(RangeTest, FindsExtremesAnywhereAndPassesOverNaN) {
  for (std::size_t size : {1, 15, 16, 17, 1000, 70001}) {
    auto x = random_values(size, 5);
    x[size / 2] = 7.5f;
    x[size - 1] = -9.25f;
    const Range range = range_of(x);
    EXPECT_EQ(range.low, -9.25f);
    EXPECT_EQ(range.high, size == 1 ? -9.25f : 7.5f);
  }
  EXPECT_EQ(range_of(std::vector<float>{}).high, 0);
  const std::vector<float> nan = {1, std::numeric_limits<float>::quiet_NaN(), 2};
  EXPECT_EQ(range_of(nan).low, 1);
  EXPECT_EQ(range_of(nan).high, 2);
}

TEST(StochasticTest, MeanOverManyKeysIsTheValueItself) {
  const std::vector<float> x = {-.01f, .003f, .02f, 0, .004f, -.006f, 0, .015f};
  const Grid grid = make_grid(range_of(x), 4);
  std::vector<double> mean(x.size());
  std::vector<float> q(x.size());
  const int draws = 20000;
  for (int draw = 0; draw < draws; ++draw) {
    quantize_stochastic(x, grid, noise_key(RandomKey(draw)), q);
    for (std::size_t i = 0; i < x.size(); ++i) mean[i] += q[i] / draws;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(mean[i], x[i], 5 * 0.5 * grid.scale / std::sqrt(draws));
  }
}

TEST(StochasticTest, EachElementUsesItsOwnNoise) {
  const auto x = random_values(40001, 9);
  const Grid grid = make_grid(range_of(x), 5);
  const NoiseKey key = noise_key(RandomKey(4));
  std::vector<float> q(x.size());
  quantize_stochastic(x, grid, key, q);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float code = (x[i] - grid.low) / grid.scale + noise(key, i);
    const float level = std::nearbyint(std::fmin(std::fmax(code, 0.0f), grid.levels));
    ASSERT_EQ(q[i], level * grid.scale + grid.low) << "at " << i;
  }
}

TEST(IsaTest, EveryInstructionSetGivesTheSameBytes) {
  const auto& reference = elementwise_kernels(Isa::scalar);
  const auto x = random_values(1027, 6);
  const Grid grid = make_grid(range_of(x), 3);
  for (Isa isa : available_isas()) {
    const auto& kernels = elementwise_kernels(isa);
    for (std::int64_t count : {1, 7, 16, 63, 64, 65, 1027}) {
      EXPECT_EQ(kernels.range(x.data(), count).low, reference.range(x.data(), count).low);
      EXPECT_EQ(kernels.range(x.data(), count).high, reference.range(x.data(), count).high);
      std::vector<float> a(count), b(count);
      kernels.quantize(x.data(), count, grid, a.data());
      reference.quantize(x.data(), count, grid, b.data());
      EXPECT_EQ(a, b) << name(isa);
      kernels.quantize_stochastic(x.data(), count, grid, {1, 2}, 128, a.data());
      reference.quantize_stochastic(x.data(), count, grid, {1, 2}, 128, b.data());
      EXPECT_EQ(a, b) << name(isa);
    }
  }
}

}  // namespace
}  // namespace bitcycle
