// Note [Poison]: what is not finite is not hidden by codes.

#include "bitcycle/kernels/finite.h"
#include "bitcycle/kernels/integer/passes.h"

#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/pass_kernels.h"

#include <vector>

#include <gtest/gtest.h>

namespace bitcycle::integer {
namespace {

// Of one value in an image of 5 x 3 pixels and 21 channels that is not finite.
TEST(Poison, RangesOfTensorsThatAreNotFiniteArePoisoned) {
  const CodeGrid grid{2, 5, 3, 21, 0};
  const std::vector<float> shift(21, 0.5f), scale(21, 1.0f);
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    for (const Rectify activation : {Rectify::none, Rectify::relu}) {
      for (const float bad : {kNaN, kInfinity}) {
        std::vector<float> y(static_cast<std::size_t>(grid.elements()), -1.0f), x(y.size());
        const ActivationSource source{
            .y = y.data(), .scale = scale, .shift = shift, .activation = activation};
        EXPECT_TRUE(finite(activate(grid, source, x.data(), nullptr)));
        for (const std::size_t at : {std::size_t{0}, y.size() / 2 + 7, y.size() - 1}) {
          y[at] = bad;
          EXPECT_FALSE(finite(activate(grid, source, x.data(), nullptr))) << name(isa) << " " << at;
          EXPECT_FALSE(std::isfinite(x[at]));
          y[at] = -1.0f;
        }
      }
    }
  }
}

TEST(Poison, SumsThatOverflowHalvesArePoisoned) {
  const CodeGrid grid{1, 2, 2, 3, 0};
  const std::vector<Half> y(12, to_half(60000.0f)), residual(12, to_half(10000.0f));
  std::vector<Half> x(12);
  const ActivationSource source{.y = y.data(), .residual = residual.data()};
  EXPECT_FALSE(finite(activate(grid, source, x.data(), nullptr)));
  EXPECT_TRUE(finite(activate(grid, {.y = y.data()}, x.data(), nullptr)));
}

// A range that follows from statistics, with coefficients that are not finite.
TEST(Poison, RangesFromStatisticsArePoisonedByTheirCoefficients) {
  const ChannelStats stats{{1, 2}, {1, 4}, {-1, 0}, {3, 4}};
  const std::vector<float> ones(2, 1.0f), bad{0.0f, kNaN};
  const float* y = ones.data();
  for (const Rectify activation : {Rectify::none, Rectify::relu}) {
    EXPECT_TRUE(finite(activation_range(stats, {y, {}, ones, ones, activation})));
    EXPECT_FALSE(finite(activation_range(stats, {y, {}, ones, bad, activation})));
    EXPECT_FALSE(finite(activation_range(stats, {y, {}, bad, ones, activation})));
  }
}

TEST(Poison, PoisonedRangesGiveNoScale) {
  for (const Range range : {Range{0, kInfinity}, Range{-kInfinity, 0}, Range{kNaN, 1}, kPoisoned,
                            Range{-3e38f, 3e38f}}) {
    EXPECT_TRUE(std::isnan(code_params(range, 8).scale));
  }
  EXPECT_EQ(code_params({0, 255}, 8).scale, 1.0f);
}

TEST(Poison, AWeightThatIsNotFinitePoisonsItsChannel) {
  ConvWeights weights(ConvShape{.in_channels = 20, .out_channels = 3});
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    std::vector<float> values(60, 0.25f);
    values[27] = bad;
    weights.quantize(values, 4);
    EXPECT_FALSE(std::isnan(weights.scales()[0]));
    EXPECT_TRUE(std::isnan(weights.scales()[1]));
    EXPECT_FALSE(std::isnan(weights.scales()[2]));
  }
}

TEST(Poison, StatisticsTellWhetherAnOutputIsFiniteAsItIsStored) {
  const ChannelStats sound{{1, 2}, {1, 4}, {-70000, 0}, {3, 4}};
  EXPECT_TRUE(finite(sound, Real::f32));
  EXPECT_FALSE(finite(sound, Real::f16));  // halves end at 65504
  EXPECT_FALSE(finite(ChannelStats{{1, kNaN}, {1, 4}, {0, 0}, {3, 4}}, Real::f32));
  EXPECT_FALSE(finite(ChannelStats{{1, 2}, {kInfinity, 4}, {0, 0}, {3, 4}}, Real::f32));
}

TEST(Poison, ErrorBoundsOfGradientsThatAreNotFiniteArePoisoned) {
  const std::vector<float> a(2, 1.0f), bad{1.0f, kNaN};
  const ErrorSource source{.a = a};
  EXPECT_FALSE(finite(error_bounds({{1, 2}, {1, 2}, {-1, -1}, {1, 1}}, {}, {.a = bad})));
  EXPECT_TRUE(finite(error_bounds({{1, 2}, {1, 2}, {-1, -1}, {1, 1}}, {}, source)));
  EXPECT_FALSE(finite(error_bounds({{1, kNaN}, {1, 2}, {-1, -1}, {1, 1}}, {}, source)));
  EXPECT_FALSE(finite(error_bounds({{1, 2}, {kInfinity, 2}, {-1, -1}, {1, 1}}, {}, source)));
}

}  // namespace
}  // namespace bitcycle::integer
