// Note [Sparse errors]: the same bytes as by definition, whatever the errors are.

#include "kernels/integer/linear/sparse_errors.h"

#include "kernels/integer/linear/linear_cases.h"

#include <omp.h>

namespace bitcycle::integer {
namespace {

using namespace testing;

// Widths with tails in words, vectors and parcels; more rows and outputs than a parcel has.
constexpr std::array<std::array<int, 3>, 6> kShapes{
    {{1, 1, 1}, {3, 5, 7}, {17, 33, 300}, {40, 67, 257}, {5, 130, 1025}, {37, 16, 513}}};

// All but about one error in `among` become zero.
void thin_out(OwnedRows& errors, std::uint64_t among) {
  const RandomKey key(11);
  for (std::size_t i = 0; i < errors.codes.size(); ++i) {
    if (key.below(i, among) != 0) {
      errors.codes[i] = static_cast<std::uint8_t>(errors.view.params.zero_point);
    }
  }
}

LinearResults by_sparse_kernels(const LinearOperands& o, const LinearResults& expected) {
  const LinearWeights weights = o.quantized();
  LinearResults results = expected;
  std::ranges::fill(results.input_gradient, -1.0f);
  std::ranges::fill(results.weight_gradient, -1.0f);
  sparse_input_gradient(weights, o.errors.view, results.input_gradient);
  sparse_weight_gradient(weights, {o.input.view, o.errors.view}, results.weight_gradient);
  return results;
}

void expect_defined(const LinearOperands& operands) {
  const LinearResults expected = LinearDefinition(operands).results();
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    const std::string what = std::string(name(isa)) + " " + operands.shape.name();
    expect_same(by_sparse_kernels(operands, expected), expected, what);
    expect_same(by_kernels(operands), expected, what);
  }
}

TEST(SparseErrors, EveryWidthAndOddSizesAsDefined) {
  omp_set_num_threads(1);
  for (const auto& [rows, inputs, outputs] : kShapes) {
    for (int bits = kMinBits; bits <= kMaxBits; ++bits) {
      for (const std::uint64_t among : {1, 7, 100}) {
        LinearOperands operands(
            {rows, inputs, outputs, kMinBits + kMaxBits - bits, bits, 3, (1 << bits) / 3});
        thin_out(operands.errors, among);
        expect_defined(operands);
      }
    }
  }
}

TEST(SparseErrors, OperandsAtTheEndsOfTheirRangesAsDefined) {
  omp_set_num_threads(1);
  for (const int zero : {0, 128, 255}) {
    LinearOperands operands({29, 45, 300, 8, 8, zero, 255 - zero, Fill::largest});
    thin_out(operands.errors, 50);
    expect_defined(operands);
  }
}

TEST(SparseErrors, LongestSumsAsDefined) {
  omp_set_num_threads(1);
  expect_defined(LinearOperands({32768, 3, 2, 8, 8, 0, 0, Fill::largest}));
  expect_defined(LinearOperands({2, 3, 65793, 8, 8, 0, 0, Fill::largest, Fill::smallest}));
}

// Rows that a sample sees are zero, the others as large as can be: sums that 32 bits do not hold
// must not be formed at once, however few errors there seem to be.
TEST(SparseErrors, SumsThatAreTooLongAreLeftToOthersWhateverASampleSays) {
  omp_set_num_threads(1);
  for (const auto& [rows, outputs] : {std::pair(16, 67000), std::pair(33100, 8)}) {
    LinearOperands operands({rows, 2, outputs, 8, 8, 0, 0, Fill::largest, Fill::largest});
    for (int i = 0; i < 8; ++i) {
      const auto sampled = static_cast<std::ptrdiff_t>(std::int64_t{rows} * i / 8);
      std::fill_n(operands.errors.codes.begin() + sampled * outputs, outputs, std::uint8_t{0});
    }
    ASSERT_TRUE(mostly_zero(operands.errors.view));
    const LinearResults expected = LinearDefinition(operands).results();
    for (const Isa isa : available_isas()) {
      const ScopedIsa scope(isa);
      expect_same(by_kernels(operands), expected,
                  std::string(name(isa)) + " " + operands.shape.name());
    }
  }
}

TEST(SparseErrors, ThreadsDoNotChangeAByte) {
  LinearOperands o({130, 70, 1500, 8, 8, 3, 100});
  thin_out(o.errors, 100);
  omp_set_num_threads(1);
  const LinearResults one = by_kernels(o);
  for (const int threads : {2, 3, 5}) {
    omp_set_num_threads(threads);
    expect_same(by_kernels(o), one, std::to_string(threads) + " threads");
  }
}

TEST(SparseErrors, AreToldFromOthers) {
  LinearOperands o({130, 1, 1500, 8, 8, 0, 100});
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    EXPECT_FALSE(mostly_zero(o.errors.view)) << name(isa);
  }
  thin_out(o.errors, 100);
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    EXPECT_TRUE(mostly_zero(o.errors.view)) << name(isa);
  }
}

}  // namespace
}  // namespace bitcycle::integer
