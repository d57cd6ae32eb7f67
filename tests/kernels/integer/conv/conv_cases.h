#pragma once

// One convolution of a test: operands, the three results, and how they are compared.

#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/oracle.h"

#include <cmath>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <omp.h>

namespace bitcycle::integer::testing {

struct ConvCase {
  ConvShape shape;
  int bits = 8;
  int error_bits = 8;
  Pattern pattern = Pattern::random;
  int zero_point = 0;
  std::optional<int> error_zero_point = {};
  std::optional<int> own_weight_bits = {};

  int weight_bits() const { return own_weight_bits.value_or(bits); }
  int input_zero() const { return std::min(zero_point, (1 << bits) - 1); }

  // An end of the range makes the differences as large as they get.
  int error_zero() const {
    return error_zero_point.value_or(pattern == Pattern::worst ? 0 : (1 << error_bits) / 2 - 1);
  }
};

inline std::string describe(const ConvCase& c) {
  const ConvShape& s = c.shape;
  return "batch " + std::to_string(s.batch) + ", " + std::to_string(s.height) + "x" +
         std::to_string(s.width) + ", channels " + std::to_string(s.in_channels) + "->" +
         std::to_string(s.out_channels) + ", kernel " + std::to_string(s.kernel) + ", stride " +
         std::to_string(s.stride) + ", groups " + std::to_string(s.groups) + ", bits " +
         std::to_string(c.weight_bits()) + "/" + std::to_string(c.bits) + "/" +
         std::to_string(c.error_bits) + ", zero point " + std::to_string(c.input_zero()) + "/" +
         std::to_string(c.error_zero()) + (c.pattern == Pattern::worst ? ", worst" : ", random");
}

struct ConvOperands {
  ConvCase c;
  TestCodes input;
  TestCodes errors;
  ConvWeights weights;

  ConvOperands(const ConvCase& test, bool integer, RandomKey key = RandomKey(1))
      : c(test),
        input(test.shape.input_grid(), test.bits, test.input_zero(), test.pattern,
              key.derive("input")),
        errors(test.shape.error_grid(), test.error_bits, test.error_zero(), test.pattern,
               key.derive("errors")),
        weights(test.shape) {
    weights.quantize(integer ? integer_weights(test.shape, test.weight_bits(), test.pattern, key)
                             : real_weights(test.shape, key),
                     test.weight_bits());
  }
};

// Depthwise convolutions with tails of channels and of pixels, rows shorter than a vector and
// longer than a block, and strides that leave phases with few taps or none.
inline std::vector<ConvShape> depthwise_shapes() {
  return {
      {1, 1, 1, 16, 16, 3, 1, 16},  {3, 4, 1, 20, 20, 3, 1, 20},  {1, 3, 2, 33, 33, 3, 2, 33},
      {2, 5, 3, 31, 31, 3, 1, 31},  {1, 4, 4, 48, 48, 3, 1, 48},  {5, 4, 5, 17, 17, 3, 1, 17},
      {1, 6, 7, 40, 40, 3, 1, 40},  {2, 9, 11, 32, 32, 3, 2, 32}, {1, 8, 8, 24, 24, 3, 2, 24},
      {1, 2, 70, 18, 18, 3, 1, 18}, {1, 3, 131, 5, 5, 3, 2, 5},   {2, 7, 9, 19, 19, 5, 2, 19},
      {1, 6, 6, 16, 16, 5, 1, 16},  {2, 5, 6, 16, 16, 1, 2, 16},  {1, 7, 8, 16, 16, 3, 3, 16},
  };
}

// Codes whose distances from the zero point grow with the pixel, so that all levels occur.
inline std::vector<std::uint8_t> growing_codes(int pixels, int channels, int zero) {
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(pixels) * channels + kCodeSlack);
  for (std::size_t i = 0; i < codes.size() - kCodeSlack; ++i) {
    const auto spread = 2 + i / static_cast<std::size_t>(channels) % 160;
    const auto distance = static_cast<int>(RandomKey(9).below(i, spread + 1));
    const bool down = zero > 0 && RandomKey(10).below(i, 2) == 1;
    codes[i] = static_cast<std::uint8_t>(std::clamp(zero + (down ? -distance : distance), 0, 255));
  }
  return codes;
}

template <typename T>
struct ConvResults {
  std::vector<T> output;
  std::vector<T> input_gradient;
  std::vector<float> weight_gradient;
  ChannelStats stats;
};

template <typename T>
ConvResults<T> run(const ConvOperands& o) {
  const ConvShape& s = o.c.shape;
  ConvResults<T> r;
  r.output.resize(static_cast<std::size_t>(o.errors.grid.elements()));
  r.input_gradient.resize(static_cast<std::size_t>(o.input.grid.elements()));
  r.weight_gradient.resize(static_cast<std::size_t>(s.weights()));
  conv_forward(s, o.input.view(), o.weights, r.output.data(), r.stats);
  conv_backward({s,
                 {{o.input.view(), o.errors.view()}},
                 o.weights,
                 r.input_gradient.data(),
                 r.weight_gradient});
  return r;
}

inline bool operator==(Half a, Half b) {
  return a.bits == b.bits;
}

// Both runs made the same bytes.
template <typename T>
void expect_same(const ConvResults<T>& a, const ConvResults<T>& b, const std::string& what) {
  const auto equal = [](const auto& x, const auto& y) {
    return x.size() == y.size() &&
           std::equal(x.begin(), x.end(), y.begin(), [](auto u, auto v) { return u == v; });
  };
  EXPECT_TRUE(equal(a.output, b.output)) << "forward, " << what;
  EXPECT_TRUE(equal(a.input_gradient, b.input_gradient)) << "backward data, " << what;
  EXPECT_TRUE(equal(a.weight_gradient, b.weight_gradient)) << "backward weights, " << what;
  EXPECT_TRUE(equal(a.stats.sum, b.stats.sum) &&
              equal(a.stats.sum_of_squares, b.stats.sum_of_squares) &&
              equal(a.stats.low, b.stats.low) && equal(a.stats.high, b.stats.high))
      << "statistics, " << what;
}

// The results against the oracle. With integer weights a result is one integer rounded to float;
// real offsets add a few roundings relative to the largest sum that the shape allows.
enum class Offsets { none, real };
inline void expect_oracle(const ConvOperands& o, const ConvResults<float>& r, Offsets offsets,
                          const std::string& what) {
  const ConvShape& s = o.c.shape;
  const Oracle oracle{s, o.weights};
  const double products = s.kernel * s.kernel * std::max(s.group_inputs(), s.group_outputs());
  const double slack = offsets == Offsets::none ? 0.0 : 1e-7 * products * 255 * (1 << o.c.bits);
  const double relative = offsets == Offsets::none ? 6e-8 : 4e-7;
  const auto near = [&](double want, double found, double unit) {
    return std::abs(want - found) <= slack * unit + relative * std::abs(want);
  };
  // The two planes of wide errors are rounded to float before they are added.
  const int error_bits = o.c.error_bits;
  const double wide =
      error_bits <= 8 ? 0.0 : 1e-7 * products * (1 << error_bits) * (1 << o.c.weight_bits());
  std::size_t wrong = 0, index = 0;
  for (int n = 0; n < s.batch; ++n)
    for (int y = 0; y < s.out_height(); ++y)
      for (int x = 0; x < s.out_width(); ++x)
        for (int out = 0; out < s.out_channels; ++out, ++index) {
          const double unit = double{o.weights.scales()[static_cast<std::size_t>(out)]} * 0.25;
          wrong += !near(oracle.forward(o.input, n, y, x, out) * unit, r.output[index], unit);
        }
  EXPECT_EQ(wrong, 0U) << "forward, " << what;

  wrong = 0;
  const std::vector<double> dx = oracle.backward_data(o.errors);
  for (std::size_t i = 0; i < dx.size(); ++i)
    wrong += !near(dx[i] * 0.25, r.input_gradient[i], 0.25) &&
             !(std::abs(dx[i] * 0.25 - r.input_gradient[i]) <= wide * 0.25);
  EXPECT_EQ(wrong, 0U) << "backward data, " << what;

  wrong = 0;
  const std::vector<std::int64_t> dw = oracle.weight_sums(o.input, o.errors);
  const std::size_t each = dw.size() / static_cast<std::size_t>(s.out_channels);
  for (std::size_t i = 0; i < dw.size(); ++i) {
    const double factor = 0.0625 / o.weights.scales()[i / each];
    wrong += static_cast<float>(static_cast<double>(dw[i]) * factor) != r.weight_gradient[i];
  }
  EXPECT_EQ(wrong, 0U) << "backward weights, " << what;
}

inline std::vector<Isa> vector_sets() {
  std::vector<Isa> sets = available_isas();
  sets.erase(sets.begin());
  return sets;
}

inline bool has_avx2() {
  return !vector_sets().empty();
}

template <typename T>
ConvResults<T> run_on(Isa isa, const ConvOperands& operands) {
  const ScopedIsa scope(isa);
  return run<T>(operands);
}

inline void expect_exact(const ConvOperands& operands, const std::string& what) {
  const auto reference = run_on<float>(Isa::scalar, operands);
  for (const Isa isa : vector_sets()) {
    expect_same(reference, run_on<float>(isa, operands), what + ", " + std::string(name(isa)));
  }
}

// Scalar against the oracle, every other set against scalar. The cases are too small for threads.
inline void check_case(const ConvCase& c) {
  omp_set_num_threads(1);
  const std::string what = describe(c);
  const ConvOperands integers(c, true);
  const auto reference = run_on<float>(Isa::scalar, integers);
  // A channel of one weight has no range to fix the offset with.
  const bool ends = c.shape.weights() > c.shape.out_channels;
  expect_oracle(integers, reference, ends ? Offsets::none : Offsets::real, what);
  const ConvOperands reals(c, false);
  const auto real_reference = run_on<float>(Isa::scalar, reals);
  const auto half_reference = run_on<Half>(Isa::scalar, reals);
  expect_oracle(reals, real_reference, Offsets::real, what);
  for (const Isa isa : vector_sets()) {
    const std::string where = what + ", " + std::string(name(isa));
    expect_same(reference, run_on<float>(isa, integers), where);
    expect_same(real_reference, run_on<float>(isa, reals), where);
    expect_same(half_reference, run_on<Half>(isa, reals), where);
  }
}

}  // namespace bitcycle::integer::testing
