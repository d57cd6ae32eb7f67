// Fully connected layers whose errors have more than 8 bits, against their definition.

#include "bitcycle/kernels/integer/code_makers.h"

#include "kernels/integer/linear/linear_cases.h"

#include <array>

#include <omp.h>

namespace bitcycle::integer {
namespace {

using namespace testing;

void expect_defined(const LinearCase& c) {
  const LinearOperands operands(c);
  const LinearResults expected = LinearDefinition(operands).results();
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    expect_same(by_kernels(operands), expected, std::string(name(isa)) + " " + c.name());
  }
}

TEST(WideLinearErrors, EveryWidthAndOddSizesAsDefined) {
  omp_set_num_threads(1);
  for (const auto& [rows, inputs, outputs] :
       {std::array{1, 1, 1}, std::array{3, 17, 5}, std::array{14, 67, 49}}) {
    for (int bits = 9; bits <= 16; ++bits) {
      expect_defined({rows, inputs, outputs, 8, bits, 77, (1 << bits) / 3});
      expect_defined({rows, inputs, outputs, 4, bits, 0, 0, Fill::largest});
      expect_defined({rows, inputs, outputs, 8, bits, 255, (1 << bits) - 1});
    }
  }
}

// More rows than 32-bit sums hold, and more outputs.
TEST(WideLinearErrors, SumsBeyond32BitsAsDefined) {
  omp_set_num_threads(1);
  for (const Fill fill : {Fill::random, Fill::largest}) {
    expect_defined({70001, 3, 2, 8, 16, 0, 0, fill});
    expect_defined({2, 3, 140003, 8, 16, 255, 0, fill});
  }
}

// Errors that differ from zero by less than a high code: that plane is multiplied as mostly zero.
TEST(WideLinearErrors, SmallErrorsAsDefined) {
  omp_set_num_threads(1);
  constexpr int kRows = 12, kOutputs = 900, kZero = 4 * 256 + 10;
  LinearOperands operands({kRows, 33, kOutputs, 8, 16, 9, kZero});
  for (std::size_t i = 0; i < std::size_t(kRows) * kOutputs; ++i) {
    operands.errors.codes[i] = static_cast<std::uint8_t>(i % 301 == 0 ? 7 : 4);
  }
  const LinearResults expected = LinearDefinition(operands).results();
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    expect_same(by_kernels(operands), expected, std::string(name(isa)));
  }
}

TEST(WideLinearErrors, ThreadsDoNotChangeAByte) {
  const LinearOperands o({700, 130, 190, 8, 13, 3, 1000});
  omp_set_num_threads(1);
  const LinearResults one = by_kernels(o);
  for (const int threads : {2, 3, 5}) {
    omp_set_num_threads(threads);
    expect_same(by_kernels(o), one, std::to_string(threads) + " threads");
  }
}

// Calls of other widths and lengths in between; the longest is split.
TEST(WideLinearErrors, GradientsOfSeveralCallsAreAddedInOrder) {
  omp_set_num_threads(1);
  constexpr int kInputs = 35, kOutputs = 18;
  LinearWeights weights({kInputs, kOutputs});
  std::vector<OwnedRows> rows;
  std::vector<LinearTerm> terms;
  rows.reserve(8);
  for (const auto& [count, bits] :
       {std::pair(20, 12), std::pair(3, 8), std::pair(32769, 16), std::pair(5, 9)}) {
    rows.push_back(make_rows(count, kInputs, 8, 30, Fill::random, RandomKey(count)));
    rows.push_back(make_rows(count, kOutputs, bits, 99, Fill::random, RandomKey(bits)));
    terms.push_back({rows[rows.size() - 2].view, rows.back().view});
  }
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    weights.quantize(random_values(kInputs * kOutputs, 1), 8);
    std::vector<float> gradient(kInputs * kOutputs), expected(kInputs * kOutputs);
    linear_weight_gradients(weights, terms, gradient);
    for (const LinearTerm& term : terms) {
      for (int i = 0; i < kInputs * kOutputs; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const std::int64_t sum =
            LinearDefinition::weight_sum(term.input, term.errors, i / kInputs, i % kInputs);
        const double factor = double{term.input.params.scale} * term.errors.params.scale /
                              weights.scales()[at / kInputs];
        expected[at] = std::fma(static_cast<float>(sum), static_cast<float>(factor), expected[at]);
      }
    }
    EXPECT_TRUE(same_bytes(gradient, expected)) << name(isa);
  }
}

// Errors within a step of their code's value, at 16 bits of a step that is 257 times finer.
TEST(WideLinearErrors, CodesStandForTheirValues) {
  constexpr int kWidth = 45, kRows = 11;
  const std::vector<float> gradient = random_values(kRows * kWidth, 5);
  LinearWeights weights({7, kWidth});
  weights.quantize(random_values(7 * kWidth, 6), 8);
  const CodeParams params = code_params(error_stats(gradient, weights).range, 16);
  OwnedRows errors(kRows, kWidth, params);
  quantize_errors(gradient, weights, params, {1, 2}, errors.codes.data());
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < kWidth; ++i) {
      const auto at = static_cast<std::size_t>(row * kWidth + i);
      const float error = gradient[at] * weights.scales()[std::size_t(i)];
      const float value = params.scale * static_cast<float>(difference(errors.view, row, i));
      EXPECT_NEAR(value, error, 1.01f * params.scale);
    }
  }
}

}  // namespace
}  // namespace bitcycle::integer
