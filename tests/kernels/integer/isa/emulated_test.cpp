// The AVX-512 kernels on any machine with AVX2: the same source, compiled against SIMDe's emulation
// of the 512-bit instructions, must make the scalar reference's bytes.

#include "kernels/integer/conv/conv_cases.h"
#include "kernels/integer/conv/kind_cases.h"
#include "kernels/integer/linear/linear_cases.h"
#include "kernels/integer/passes/option_cases.h"
#include "kernels/integer/passes/pass_cases.h"

namespace bitcycle::integer {
namespace {

using namespace testing;

void expect_emulated_equals_scalar(const ConvCase& c) {
  for (const bool integer : {true, false}) {
    const ConvOperands operands(c, integer);
    const auto reference = run_on<Half>(Isa::scalar, operands);
    const ScopedIsa scope(emulated_avx512_microkernels());
    expect_same(reference, run<Half>(operands), describe(c));
  }
}

TEST(EmulatedAvx512, EveryWidthOnRandomAndWorstOperands) {
  if (available_isas().size() < 2) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  for (const int bits : {2, 3, 4, 5, 6, 7, 8}) {
    for (const Pattern pattern : {Pattern::random, Pattern::worst}) {
      expect_emulated_equals_scalar({{2, 5, 6, 32, 20, 3, 1, 1}, bits, 8, pattern, 0});
      expect_emulated_equals_scalar({{1, 7, 7, 5, 16, 3, 2, 1}, bits, bits, pattern, 3});
      expect_emulated_equals_scalar({{3, 4, 3, 24, 40, 1, 1, 1}, bits, 8, pattern, 0});
    }
  }
}

TEST(EmulatedAvx512, ErrorsOfMoreThanEightBits) {
  if (available_isas().size() < 2) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  for (int error_bits = 9; error_bits <= 16; ++error_bits) {
    for (const Pattern pattern : {Pattern::random, Pattern::worst}) {
      expect_emulated_equals_scalar({{2, 5, 6, 19, 20, 3, 1, 1}, 8, error_bits, pattern, 7});
      expect_emulated_equals_scalar({{3, 5, 3, 24, 24, 3, 2, 24}, 4, error_bits, pattern, 0});
    }
  }
}

TEST(EmulatedAvx512, DepthwiseShapes) {
  if (available_isas().size() < 2) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  for (const ConvShape& shape : depthwise_shapes()) {
    expect_emulated_equals_scalar({shape, 4, 7, Pattern::random, 0});
    expect_emulated_equals_scalar({shape, 8, 8, Pattern::random, 9, 128});
    expect_emulated_equals_scalar({shape, 8, 8, Pattern::worst, 200, 128});
    expect_emulated_equals_scalar({shape, 8, 8, Pattern::worst, 0});
  }
}

TEST(EmulatedAvx512, BatchesOfSeveralKinds) {
  if (available_isas().size() < 2) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  for (const ConvShape& shape : kind_shapes()) {
    const KindOperands operands(shape, 4, kKinds);
    const auto reference = [&] {
      const ScopedIsa scope(Isa::scalar);
      return run_kinds<Half>(operands, From::memory);
    }();
    const ScopedIsa scope(emulated_avx512_microkernels());
    expect_same(reference, run_kinds<Half>(operands, From::memory), describe(operands));
  }
}

TEST(EmulatedAvx512, FullyConnectedLayers) {
  if (available_isas().size() < 2) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  for (const int rows : {1, 3, 12, 17, 25}) {
    const LinearOperands operands({rows, 67, 49, 8, 8, 7, 100});
    const LinearResults reference = [&] {
      const ScopedIsa scope(Isa::scalar);
      return by_kernels(operands);
    }();
    const ScopedIsa scope(emulated_avx512_microkernels());
    expect_same(by_kernels(operands), reference, "emulated");
  }
}

// Sums that 32 bits do not hold, of inputs, of outputs and of rows.
TEST(EmulatedAvx512, FullyConnectedLayersWithLongSums) {
  if (available_isas().size() < 2) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  for (const LinearCase& c : {LinearCase{2, 140003, 3}, {2, 3, 140003}, {70001, 3, 2}}) {
    LinearCase worst = c;
    worst.fill = worst.weights = Fill::largest;
    const LinearOperands operands(worst);
    const ScopedIsa scope(emulated_avx512_microkernels());
    expect_same(by_kernels(operands), LinearDefinition(operands).results(), worst.name());
  }
}

template <typename T>
void expect_emulated_passes_equal_scalar() {
  const NoiseKey key{12345, 678};
  for (const CodeGrid& grid : kGrids) {
    const Tensors<T> tensors(grid);
    const Outcome<T> reference = [&] {
      const ScopedIsa scope(Isa::scalar);
      return Outcome<T>(tensors, 8, key);
    }();
    const ScopedIsa scope(emulated_avx512_microkernels());
    expect_same(reference, Outcome<T>(tensors, 8, key));
  }
}

template <typename T>
void expect_emulated_options_equal_scalar() {
  for (const CodeGrid& grid : kGrids) {
    const OptionOperands<T> operands(grid, {-1.0f, 2.0f}, false);
    const Tensors<T> t(grid);
    const std::vector<float> added = AddedGradient<T>::values(grid);
    const GradientSource source{t.gradient.data(), {},      t.y.data(), nullptr,
                                t.scale,           t.shift, added};
    const auto [options, gradient] = [&] {
      const ScopedIsa scope(Isa::scalar);
      return std::pair(OptionOutcome(operands), AddedGradient<T>(t, source));
    }();
    const ScopedIsa scope(emulated_avx512_microkernels());
    EXPECT_EQ(OptionOutcome(operands), options);
    expect_same(AddedGradient<T>(t, source), gradient);
  }
}

TEST(EmulatedAvx512, NestedCodesAndOptionProducts) {
  if (available_isas().size() < 2) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  expect_emulated_options_equal_scalar<float>();
  expect_emulated_options_equal_scalar<Half>();
}

TEST(EmulatedAvx512, Passes) {
  if (available_isas().size() < 2) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  expect_emulated_passes_equal_scalar<float>();
  expect_emulated_passes_equal_scalar<Half>();
}

}  // namespace
}  // namespace bitcycle::integer
