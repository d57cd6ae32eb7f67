#pragma once

// Tensors for the fused passes, everything the passes make from them, and how two outcomes are
// compared.

#include "bitcycle/kernels/integer/code_makers.h"

#include "kernels/integer/isa/microkernels.h"

#include <cmath>

#include <gtest/gtest.h>

namespace bitcycle::integer::testing {

inline const CodeGrid kGrids[] = {{2, 5, 7, 16, 1}, {1, 3, 4, 24, 1}, {2, 3, 3, 5, 0},
                                  {1, 4, 5, 1, 3},  {3, 1, 1, 33, 0}, {2, 6, 3, 64, 2}};

template <typename T>
T real(float value);
template <>
inline float real<float>(float value) {
  return value;
}
template <>
inline Half real<Half>(float value) {
  return to_half(value);
}
inline float value_of(float v) {
  return v;
}
inline float value_of(Half v) {
  return to_float(v);
}

template <typename T>
std::vector<T> normals(std::int64_t count, RandomKey key) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(real<T>(static_cast<float>(key.normal(static_cast<std::uint64_t>(i)))));
  }
  return values;
}

template <typename T>
struct Tensors {
  CodeGrid grid;
  std::vector<T> y, residual, gradient;
  std::vector<float> scale, shift, a, b, c, mean;

  explicit Tensors(const CodeGrid& g)
      : grid(g),
        y(normals<T>(g.elements(), RandomKey(1))),
        residual(normals<T>(g.elements(), RandomKey(2))),
        gradient(normals<T>(g.elements(), RandomKey(3))),
        scale(normals<float>(g.channels, RandomKey(4))),
        shift(normals<float>(g.channels, RandomKey(5))),
        a(normals<float>(g.channels, RandomKey(6))),
        b(normals<float>(g.channels, RandomKey(7))),
        c(normals<float>(g.channels, RandomKey(8))),
        mean(normals<float>(g.channels, RandomKey(9))) {}

  std::size_t channel(std::size_t i) const { return i % static_cast<std::size_t>(grid.channels); }
  ActivationSource joined() const {
    return {y.data(), residual.data(), scale, shift, Rectify::relu};
  }
  ActivationSource alone() const { return {y.data(), {}, scale, shift, Rectify::relu}; }
  ErrorSource errors() const {
    return {{gradient.data(), residual.data(), y.data(), nullptr, scale, shift}, a, b, c};
  }
  float activation(std::size_t i) const {
    return std::max(normed(i) + value_of(residual[i]), 0.0f);
  }
  float normed(std::size_t i) const {
    const std::size_t k = channel(i);
    return std::fma(value_of(y[i]), scale[k], shift[k]);
  }
  // The ranges of y; the other statistics are not needed here.
  ChannelStats stats() const {
    ChannelStats stats{
        {}, {}, std::vector<float>(scale.size(), 1e30f), std::vector<float>(scale.size(), -1e30f)};
    for (std::size_t i = 0; i < y.size(); ++i) {
      stats.low[channel(i)] = std::min(stats.low[channel(i)], value_of(y[i]));
      stats.high[channel(i)] = std::max(stats.high[channel(i)], value_of(y[i]));
    }
    return stats;
  }
  // code = clamp(RNE(y * (scale / s) + (shift / s + z)), 0, n)
  int code(std::size_t i, const CodeParams& p) const {
    const std::size_t k = channel(i);
    const auto zero = static_cast<float>(p.zero_point);
    const float value = std::fma(value_of(y[i]), scale[k] * p.inverse_scale,
                                 std::fma(shift[k], p.inverse_scale, zero));
    return static_cast<int>(
        std::nearbyint(std::clamp(value, zero, static_cast<float>(p.largest_code()))));
  }
  // code = clamp(RNE(e / s + z + noise), 0, n), the noise's centre taken into the constant
  int error_code(std::size_t i, const CodeParams& p, NoiseKey key) const {
    const std::size_t k = channel(i);
    const float centre = static_cast<float>(p.zero_point) - 32767.5f / 65536.0f;
    const float constant = std::fma(c[k], p.inverse_scale, centre);
    const float value = std::fma(gated(i), a[k] * p.inverse_scale,
                                 std::fma(value_of(y[i]), b[k] * p.inverse_scale, constant));
    const float noisy = std::fma(static_cast<float>(noise_bits(key, i)), 1.0f / 65536.0f, value);
    return static_cast<int>(
        std::nearbyint(std::clamp(noisy, 0.0f, static_cast<float>(p.largest_code()))));
  }
  float gated(std::size_t i) const {
    return normed(i) > 0.0f ? value_of(gradient[i]) + value_of(residual[i]) : 0.0f;
  }
  float error(std::size_t i) const {
    const std::size_t k = channel(i);
    return std::fma(gated(i), a[k], std::fma(value_of(y[i]), b[k], c[k]));
  }
};

// Everything the passes make from one set of tensors.
template <typename T>
struct Outcome {
  Range activation, error;
  std::vector<T> x, g;
  std::vector<std::uint8_t> mask, codes, error_codes, wide_codes;
  GradientSums sums;
  CodeParams params, error_params;

  Outcome(const Tensors<T>& t, int bits, NoiseKey key)
      : x(t.y.size()),
        g(t.y.size()),
        mask(mask_bytes(t.grid)),
        codes(t.grid.bytes(), 0xcd),
        error_codes(t.grid.bytes(), 0xcd),
        wide_codes(wide_bytes(t.grid), 0xcd) {
    activation = activate(t.grid, t.joined(), x.data(), mask.data());
    params = code_params(activate(t.grid, t.alone(), {}, nullptr), bits);
    make_all(t.grid, ActivationCodes(t.grid, t.alone(), params), codes.data());
    sums = gradient_sums(t.grid, t.errors().source, t.mean, g.data());
    error = error_bounds(sums, t.stats(), t.errors());
    error_params = code_params(error, bits);
    make_all(t.grid, ErrorCodes(t.grid, t.errors(), error_params, key), error_codes.data());
    const CodeParams wide = code_params(error, bits + 7);
    make_all_wide(t.grid, ErrorCodes(t.grid, t.errors(), wide, key), wide_codes.data());
  }
};

inline bool same(const std::vector<Half>& a, const std::vector<Half>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](Half x, Half y) { return x.bits == y.bits; });
}
inline bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a == b;
}

template <typename T>
void expect_same(const Outcome<T>& a, const Outcome<T>& b) {
  EXPECT_EQ(a.activation.low, b.activation.low);
  EXPECT_EQ(a.activation.high, b.activation.high);
  EXPECT_EQ(a.error.low, b.error.low);
  EXPECT_EQ(a.error.high, b.error.high);
  EXPECT_TRUE(same(a.x, b.x));
  EXPECT_TRUE(same(a.g, b.g));
  EXPECT_EQ(a.mask, b.mask);
  EXPECT_EQ(a.codes, b.codes);
  EXPECT_EQ(a.error_codes, b.error_codes);
  EXPECT_EQ(a.wide_codes, b.wide_codes);
  EXPECT_EQ(a.sums.gradient, b.sums.gradient);
  EXPECT_EQ(a.sums.deviation, b.sums.deviation);
}

}  // namespace bitcycle::integer::testing
