#include "bitcycle/kernels/batch_norm.h"

#include "kernels/random_values.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <omp.h>

namespace bitcycle {
namespace {

constexpr float kEpsilon = 1e-5f;

struct Case {
  PixelShape shape{700, 5};
  std::vector<float> x = random_values(3500, 1);
  std::vector<float> residual = random_values(3500, 2);
  std::vector<float> error = random_values(3500, 3);
  std::vector<float> weight = {1, 0.5f, -2, 1.5f, 0.1f};
  std::vector<float> bias = {0, 0.1f, 0.2f, -0.3f, 1};

  std::vector<float> mean() const { return channel_statistics(x, shape).mean; }
  std::vector<float> inverse() const {
    auto r = channel_statistics(x, shape).variance;
    for (float& v : r) v = 1 / std::sqrt(v + kEpsilon);
    return r;
  }
};

// loss = sum error * relu(batch_norm(x) + residual), in double, straight from the definition.
double loss(const Case& c, const std::vector<double>& x, const std::vector<double>& residual,
            const std::vector<double>& weight, const std::vector<double>& bias) {
  double total = 0;
  for (std::int64_t channel = 0; channel < c.shape.channels; ++channel) {
    double mean = 0, variance = 0;
    for (std::int64_t p = 0; p < c.shape.pixels; ++p) mean += x[p * 5 + channel] / c.shape.pixels;
    for (std::int64_t p = 0; p < c.shape.pixels; ++p) {
      variance += std::pow(x[p * 5 + channel] - mean, 2) / c.shape.pixels;
    }
    for (std::int64_t p = 0; p < c.shape.pixels; ++p) {
      const std::int64_t i = p * 5 + channel;
      const double normal = (x[i] - mean) / std::sqrt(variance + kEpsilon);
      total += c.error[i] * std::max(0.0, normal * weight[channel] + bias[channel] + residual[i]);
    }
  }
  return total;
}

std::vector<double> widen(const std::vector<float>& v) {
  return {v.begin(), v.end()};
}

TEST(BatchNormTest, StatisticsMatchTheirDefinition) {
  const Case c;
  const auto statistics = channel_statistics(c.x, c.shape);
  for (int channel = 0; channel < 5; ++channel) {
    double mean = 0, square = 0;
    for (int p = 0; p < 700; ++p) {
      mean += c.x[p * 5 + channel] / 700.0;
      square += c.x[p * 5 + channel] * static_cast<double>(c.x[p * 5 + channel]) / 700.0;
    }
    EXPECT_NEAR(statistics.mean[channel], mean, 1e-6);
    EXPECT_NEAR(statistics.variance[channel], square - mean * mean, 1e-5);
  }
}

TEST(BatchNormTest, ForwardAppliesScaleShiftResidualAndRelu) {
  const Case c;
  std::vector<float> y(c.x.size());
  scale_shift_activate(c.x, c.shape, c.weight, c.bias, c.residual, Activation::relu, y);
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(y[i], std::max(0.0f, c.x[i] * c.weight[i % 5] + c.bias[i % 5] + c.residual[i]));
  }
}

TEST(BatchNormTest, BackwardMatchesNumericDifferences) {
  const Case c;
  const auto mean = c.mean(), inverse = c.inverse();
  std::vector<float> scale(5), shift(5), y(c.x.size());
  for (int i = 0; i < 5; ++i) {
    scale[i] = c.weight[i] * inverse[i];
    shift[i] = c.bias[i] - mean[i] * scale[i];
  }
  scale_shift_activate(c.x, c.shape, scale, shift, c.residual, Activation::relu, y);
  std::vector<float> dx(y.size()), dresidual(y.size()), dweight(5), dbias(5);
  batch_norm_backward(c.error, c.shape, {c.x, y, mean, inverse, c.weight, Activation::relu},
                      {dx, dresidual, dweight, dbias});

  auto x = widen(c.x), residual = widen(c.residual), weight = widen(c.weight), bias = widen(c.bias);
  const auto slope = [&](double& value) {
    const double kept = value, h = 1e-5;
    value = kept + h;
    const double above = loss(c, x, residual, weight, bias);
    value = kept - h;
    const double below = loss(c, x, residual, weight, bias);
    value = kept;
    return (above - below) / (2 * h);
  };
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(dweight[i], slope(weight[i]), 2e-3);
    EXPECT_NEAR(dbias[i], slope(bias[i]), 2e-3);
  }
  for (int i = 3; i < 3500; i += 211) {
    EXPECT_NEAR(dx[i], slope(x[i]), 1e-3);
    EXPECT_NEAR(dresidual[i], slope(residual[i]), 1e-3);
  }
}

TEST(BatchNormTest, WithoutResidualTheMaskIsTakenFromTheOutput) {
  const Case c;
  const auto mean = c.mean(), inverse = c.inverse();
  const auto y = random_values(3500, 8);
  std::vector<float> with(3500), without(3500), dresidual(3500), dweight(5), dbias(5);
  const BatchNormSaved saved{c.x, y, mean, inverse, c.weight, Activation::relu};
  batch_norm_backward(c.error, c.shape, saved, {with, dresidual, dweight, dbias});
  batch_norm_backward(c.error, c.shape, saved, {without, {}, dweight, dbias});
  EXPECT_EQ(with, without);
}

TEST(BatchNormTest, WhatMadeTheOutputTellsItsSign) {
  const Case c;
  const auto mean = c.mean(), inverse = c.inverse();
  std::vector<float> y(3500), with(3500), without(3500), dweight(5), dbias(5), dw(5), db(5);
  scale_shift_activate(c.x, c.shape, c.weight, c.bias, {}, Activation::relu, y);
  BatchNormSaved saved{c.x, y, mean, inverse, c.weight, Activation::relu, c.weight, c.bias};
  batch_norm_backward(c.error, c.shape, saved, {with, {}, dweight, dbias});
  saved.y = {};
  batch_norm_backward(c.error, c.shape, saved, {without, {}, dw, db});
  EXPECT_EQ(with, without);
  EXPECT_EQ(dweight, dw);
  EXPECT_EQ(dbias, db);
}

TEST(BatchNormTest, ThreadsDoNotChangeAByte) {
  const PixelShape shape{40000, 3};
  const auto x = random_values(120000, 4);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto one = channel_statistics(x, shape);
  omp_set_num_threads(3);
  const auto three = channel_statistics(x, shape);
  omp_set_num_threads(threads);
  EXPECT_EQ(one.mean, three.mean);
  EXPECT_EQ(one.variance, three.variance);
}

}  // namespace
}  // namespace bitcycle
