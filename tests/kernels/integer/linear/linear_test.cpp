// Fully connected layers: every instruction set against the definition, byte for byte.

#include "bitcycle/kernels/finite.h"
#include "bitcycle/kernels/integer/conv.h"

#include "kernels/integer/linear/linear_cases.h"

#include <omp.h>

namespace bitcycle::integer {
namespace {

using namespace testing;

// Sizes with tails in rows, steps, panels and tiles; sums of one block and of several.
constexpr std::array<std::array<int, 3>, 9> kShapes{{{1, 1, 1},
                                                     {3, 5, 7},
                                                     {12, 16, 32},
                                                     {13, 33, 18},
                                                     {25, 67, 49},
                                                     {2, 2, 130},
                                                     {7, 2101, 19},
                                                     {5, 18, 4099},
                                                     {405, 9, 17}}};

void expect_defined(const LinearCase& c) {
  const LinearOperands operands(c);
  const LinearResults expected = LinearDefinition(operands).results();
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    expect_same(by_kernels(operands), expected, std::string(name(isa)) + " " + c.name());
  }
}

TEST(Linear, EveryWidthAndOddSizesAsDefined) {
  omp_set_num_threads(1);
  for (const auto& [rows, inputs, outputs] : kShapes) {
    for (int bits = kMinBits; bits <= kMaxBits; ++bits) {
      expect_defined({rows, inputs, outputs, bits, 8, 1, 128});
    }
    for (int bits = kMinBits; bits < kMaxBits; ++bits) {
      expect_defined({rows, inputs, outputs, 8, bits, 77, (1 << bits) - 1});
    }
  }
}

TEST(Linear, OperandsAtTheEndsOfTheirRangesAsDefined) {
  omp_set_num_threads(1);
  for (const int zero : {0, 128, 255}) {
    expect_defined({14, 257, 65, 8, 8, zero, 255 - zero, Fill::largest});
  }
}

// Products per sum beyond what 32 bits surely hold: 255 * 128 * 65793 is the last that fits.
TEST(Linear, SumsOfVeryManyProductsAsDefined) {
  omp_set_num_threads(1);
  expect_defined({2, 140003, 3, 8, 8, 0, 0});
  expect_defined({2, 3, 140003, 8, 8, 255, 0});
  expect_defined({70001, 3, 2, 8, 8, 0, 0});
}

// Every product of a sum has the same sign and the largest size: 140002 * 255 * 127 is more than
// twice what 32 bits hold. 65536 products are the most that are not split.
TEST(Linear, SumsBeyond32BitsAsDefined) {
  omp_set_num_threads(1);
  for (const Fill weights : {Fill::largest, Fill::smallest}) {
    const auto [codes, zero] =
        weights == Fill::largest ? std::pair(Fill::largest, 0) : std::pair(Fill::smallest, 255);
    const LinearOperands sample({1, 3, 1, 8, 8, zero, zero, codes, weights});
    ASSERT_EQ(sample.quantized().codes()[1], weights == Fill::largest ? 127 : -128);
    ASSERT_EQ(std::abs(difference(sample.input.view, 0, 0)), 255);
    for (const int products : {65536, 65793, 140003}) {
      expect_defined({2, products, 3, 8, 8, zero, zero, codes, weights});
      expect_defined({2, 3, products, 8, 8, zero, zero, codes, weights});
    }
    expect_defined({70001, 3, 2, 8, 8, zero, zero, codes, weights});
  }
}

float expected_sum(std::span<const LinearTerm> terms, float weight_scale, int out, int in) {
  float expected = 0;
  for (const LinearTerm& term : terms) {
    const double factor = double{term.input.params.scale} * term.errors.params.scale / weight_scale;
    const auto sum =
        static_cast<float>(LinearDefinition::weight_sum(term.input, term.errors, out, in));
    expected = std::fma(sum, static_cast<float>(factor), expected);
  }
  return expected;
}

// Likewise in a gradient that is the sum of several calls'.
TEST(Linear, GradientsOfCallsBeyond32BitsAreAddedInOrder) {
  omp_set_num_threads(1);
  constexpr int kInputs = 3, kOutputs = 2;
  std::vector<OwnedRows> rows;
  rows.reserve(6);
  std::vector<LinearTerm> terms;
  for (const int count : {7, 70001, 40000}) {
    rows.push_back(make_rows(count, kInputs, 8, 0, Fill::largest, RandomKey(1)));
    rows.push_back(make_rows(count, kOutputs, 8, 0, Fill::largest, RandomKey(1)));
    terms.push_back({rows[rows.size() - 2].view, rows.back().view});
  }
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    LinearWeights weights({kInputs, kOutputs});
    weights.quantize(random_values(kInputs * kOutputs, 1), 8);
    std::vector<float> gradient(kInputs * kOutputs), expected;
    linear_weight_gradients(weights, terms, gradient);
    for (int i = 0; i < kInputs * kOutputs; ++i) {
      const float scale = weights.scales()[std::size_t(i / kInputs)];
      expected.push_back(expected_sum(terms, scale, i / kInputs, i % kInputs));
    }
    EXPECT_TRUE(same_bytes(gradient, expected)) << name(isa);
  }
}

TEST(Linear, GivesTheBytesOfAConvolutionOnPicturesOfOnePixel) {
  omp_set_num_threads(1);
  const LinearOperands o({19, 70, 45, 8, 8, 9, 120});
  const ConvShape shape{.batch = 19, .in_channels = 70, .out_channels = 45};
  ConvWeights weights(shape);
  weights.quantize(o.weights, 8);
  LinearResults expected(o.shape);
  ChannelStats stats;
  conv_forward(shape, {o.input.view.data, o.input.view.params}, weights, expected.output.data(),
               stats);
  for (std::size_t i = 0; i < expected.output.size(); ++i) expected.output[i] += o.bias[i % 45];
  conv_backward({.shape = shape,
                 .kinds = {{{o.input.view.data, o.input.view.params},
                            {o.errors.view.data, o.errors.view.params}}},
                 .weights = weights,
                 .input_gradient = expected.input_gradient.data(),
                 .weight_gradient = expected.weight_gradient});
  expect_same(by_kernels(o), expected, "convolution");
}

TEST(Linear, ThreadsDoNotChangeAByte) {
  const LinearOperands o({700, 130, 190, 8, 8, 3, 100});
  omp_set_num_threads(1);
  const LinearResults one = by_kernels(o);
  for (const int threads : {2, 3, 5}) {
    omp_set_num_threads(threads);
    expect_same(by_kernels(o), one, std::to_string(threads) + " threads");
  }
}

struct Terms {
  std::vector<OwnedRows> rows;
  std::vector<LinearTerm> terms;

  Terms(std::span<const int> counts, int inputs, int outputs) {
    rows.reserve(2 * counts.size());
    for (std::size_t t = 0; t < counts.size(); ++t) {
      const RandomKey key = RandomKey(9).derive(t);
      rows.push_back(make_rows(counts[t], inputs, 8, 30 + int(t), Fill::random, key));
      rows.push_back(make_rows(counts[t], outputs, 8, 120 - int(t), Fill::random, key.derive(1)));
      rows[2 * t].view.params.scale = 0.01f * static_cast<float>(t + 1);
      terms.push_back({rows[2 * t].view, rows[2 * t + 1].view});
    }
  }
};

TEST(Linear, GradientsOfSeveralCallsAreAddedInOrder) {
  omp_set_num_threads(1);
  constexpr int kInputs = 35, kOutputs = 18;
  LinearWeights weights({kInputs, kOutputs});
  // The longest is split.
  const Terms calls(std::array{20, 1, 33, 32769, 20}, kInputs, kOutputs);
  weights.quantize(random_values(kInputs * kOutputs, 1), 8);
  std::vector<float> expected;
  for (int i = 0; i < kInputs * kOutputs; ++i) {
    const int out = i / kInputs;
    expected.push_back(
        expected_sum(calls.terms, weights.scales()[std::size_t(out)], out, i % kInputs));
  }
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    weights.quantize(random_values(kInputs * kOutputs, 1), 8);
    std::vector<float> gradient(kInputs * kOutputs);
    linear_weight_gradients(weights, calls.terms, gradient);
    EXPECT_TRUE(same_bytes(gradient, expected)) << name(isa);
  }
}

// x within half a step of its code's value, errors within a whole one.
TEST(Linear, CodesStandForTheirValues) {
  constexpr int kWidth = 45;
  const std::vector<float> x = random_values(11 * kWidth, 5);
  LinearWeights weights({7, kWidth});
  weights.quantize(random_values(7 * kWidth, 6), 8);
  const CodeParams params = code_params(row_range(x), 8);
  OwnedRows rows(11, kWidth, params);
  quantize_rows(x, kWidth, params, rows.codes.data());
  const ErrorStats stats = error_stats(x, weights);
  OwnedRows errors(11, kWidth, code_params(stats.range, 8));
  quantize_errors(x, weights, errors.view.params, {1, 2}, errors.codes.data());
  for (int i = 0; i < 11 * kWidth; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const float value = params.scale * static_cast<float>(difference(rows.view, 0, i));
    EXPECT_NEAR(value, x[at], 0.51f * params.scale);
    const float error = weights.scales()[at % kWidth] * x[at];
    const float scale = errors.view.params.scale;
    EXPECT_NEAR(scale * static_cast<float>(difference(errors.view, 0, i)), error, 1.01f * scale);
  }
}

TEST(Linear, ErrorStatsHoldTheRangeOfScaledErrorsAndTheBiasGradient) {
  constexpr int kRows = 23, kOutputs = 300;
  const std::vector<float> g = random_values(kRows * kOutputs, 7);
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    LinearWeights weights({5, kOutputs});
    weights.quantize(random_values(5 * kOutputs, 8), 8);
    const ErrorStats stats = error_stats(g, weights);
    Range range{0, 0};
    for (std::size_t o = 0; o < kOutputs; ++o) {
      double sum = 0;
      for (std::size_t r = 0; r < kRows; ++r) {
        sum += double{g[r * kOutputs + o]};
        const float error = weights.scales()[o] * g[r * kOutputs + o];
        range = {std::min(range.low, error), std::max(range.high, error)};
      }
      EXPECT_EQ(stats.sums[o], sum);
    }
    EXPECT_EQ(stats.range.low, range.low);
    EXPECT_EQ(stats.range.high, range.high);
  }
}

// Note [Poison].
TEST(Linear, WhatIsNotFiniteMakesProductsNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {kNaN, infinity, -infinity}) {
    std::vector<float> x = random_values(4 * 6, 1);
    x[7] = bad;
    EXPECT_FALSE(finite(row_range(x)));
    LinearWeights weights({4, 6});
    weights.quantize(random_values(24, 2), 8);
    EXPECT_FALSE(finite(error_stats(x, weights).range));
    const OwnedRows poisoned(4, 4, code_params(kPoisoned, 8));
    const OwnedRows errors(4, 6, code_params(kPoisoned, 8));
    std::vector<float> output(24), gradient(16), weight_gradient(24);
    linear_forward(weights, poisoned.view, {}, output);
    linear_input_gradient(weights, errors.view, gradient);
    linear_weight_gradient(weights, {poisoned.view, errors.view}, weight_gradient);
    for (const auto* values : {&output, &gradient, &weight_gradient}) {
      for (const float value : *values) EXPECT_TRUE(std::isnan(value));
    }
    std::vector<float> w = random_values(24, 2);
    w[9] = bad;  // one output's
    weights.quantize(w, 8);
    const OwnedRows input = make_rows(4, 4, 8, 0, Fill::random, RandomKey(1));
    linear_forward(weights, input.view, {}, output);
    for (const float value : output) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(Linear, OutputsThatOverflowAreNaN) {
  LinearWeights weights({2, 3});
  const std::vector<float> w{3e38f, 0, 1, 0, 1, 0};
  weights.quantize(w, 8);
  OwnedRows input = make_rows(1, 2, 8, 0, Fill::largest, RandomKey(1));
  input.view.params.scale = 1.0f;
  std::vector<float> output(3);
  linear_forward(weights, input.view, {}, output);
  for (const float value : output) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace bitcycle::integer
