// Convolutions whose errors have more than 8 bits: against the oracle in 64-bit integers and
// doubles, and the way in which the two planes are rounded, to the byte.

#include "kernels/integer/conv/conv_cases.h"

namespace bitcycle::integer {
namespace {

using namespace testing;

// Dense, strided, depthwise, in groups; tails of channels and pixels; several images a parcel.
std::vector<ConvShape> shapes() {
  return {
      {2, 5, 6, 32, 16, 3, 1, 1}, {1, 7, 9, 17, 20, 3, 2, 1},  {3, 3, 3, 5, 33, 1, 1, 1},
      {5, 1, 1, 64, 10, 1, 1, 1}, {2, 6, 5, 24, 24, 3, 1, 24}, {3, 7, 5, 18, 18, 3, 2, 18},
      {2, 5, 5, 8, 12, 3, 1, 4},  {1, 9, 10, 3, 16, 7, 2, 1},
  };
}

TEST(WideErrors, EveryWidthMatchesTheOracleOnEverySet) {
  for (const ConvShape& shape : shapes()) {
    for (int error_bits = 2; error_bits <= 16; ++error_bits) {
      check_case({shape, 8, error_bits, Pattern::random, 5});
    }
  }
}

TEST(WideErrors, ZeroPointsAtBothEndsAndBesideThem) {
  for (const ConvShape& shape : shapes()) {
    for (const int error_bits : {9, 12, 15, 16}) {
      const int last = (1 << error_bits) - 1;
      for (const int zero : {0, 1, 255, last - 1, last}) {
        check_case({shape, 4, error_bits, Pattern::worst, 0, zero});
        check_case({shape, 8, error_bits, Pattern::random, 255, zero});
      }
    }
  }
}

// More pixels than 32-bit sums of 8-bit products may hold.
TEST(WideErrors, LongWeightGradientsAreEmptiedInTime) {
  check_case({{1, 200, 200, 3, 5, 3, 1, 1}, 8, 16, Pattern::worst, 0, 65535});
  check_case({{1, 200, 200, 3, 5, 3, 1, 1}, 8, 16, Pattern::worst, 0, 0});
  check_case({{1, 200, 200, 3, 3, 3, 1, 3}, 8, 16, Pattern::worst, 0, 0});
}

TEST(WideErrors, ThreadsDoNotChangeAByte) {
  for (const ConvShape& shape : shapes()) {
    ConvShape batch = shape;
    batch.batch = 7;
    const ConvOperands operands({batch, 8, 13, Pattern::random, 3}, false);
    omp_set_num_threads(1);
    const auto one = run<Half>(operands);
    for (const int threads : {2, 3}) {
      omp_set_num_threads(threads);
      expect_same(one, run<Half>(operands), describe(operands.c));
    }
  }
}

TEST(WideErrors, EitherBackwardProductCanBeLeftOut) {
  for (const ConvShape& shape : shapes()) {
    const ConvOperands o({shape, 3, 11, Pattern::random, 0}, false);
    const auto want = run<Half>(o);
    ConvResults<Half> found = want;
    found.input_gradient.assign(want.input_gradient.size(), {});
    found.weight_gradient.assign(want.weight_gradient.size(), 0.0f);
    conv_backward({shape, {{{}, o.errors.view()}}, o.weights, found.input_gradient.data(), {}});
    conv_backward(
        {shape, {{o.input.view(), o.errors.view()}}, o.weights, {}, found.weight_gradient});
    expect_same(want, found, describe(o.c));
  }
}

// The codes of one plane as errors of their own.
TestCodes plane_of(const TestCodes& codes, int bits, int shift, int zero) {
  TestCodes plane(codes.grid, bits, zero, Pattern::worst, RandomKey(1));
  for (std::size_t i = 0; i < codes.dense.size(); ++i) {
    plane.dense[i] = static_cast<std::uint16_t>((codes.dense[i] >> shift) % (1 << bits));
  }
  return plane;
}

// dx = half(2^l s float(SUM (high - z_high) c) + s float(SUM (low - z_low) c)), where weights have
// no offsets.
TEST(WideErrors, PlanesAreRoundedToFloatAndTheirSumToHalfOnce) {
  for (const ConvShape& shape : shapes()) {
    for (const int error_bits : {9, 12, 16}) {
      const int low_bits = error_bits / 2, zero = (1 << error_bits) / 3;
      const ConvOperands o({shape, 8, error_bits, Pattern::random, 0, zero}, true);
      const Oracle oracle{shape, o.weights};
      const TestCodes high = plane_of(o.errors, error_bits - low_bits, low_bits, zero >> low_bits);
      const TestCodes low = plane_of(o.errors, low_bits, 0, zero % (1 << low_bits));
      const std::vector<double> upper = oracle.backward_data(high),
                                lower = oracle.backward_data(low);
      const auto found = run<Half>(o).input_gradient;
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < found.size(); ++i) {
        const float value =
            static_cast<float>(upper[i]) * (0.25f * static_cast<float>(1 << low_bits)) +
            static_cast<float>(lower[i]) * 0.25f;
        wrong += found[i].bits != to_half(value).bits;
      }
      EXPECT_EQ(wrong, 0U) << describe(o.c);
    }
  }
}

TEST(WideErrors, ImagesAreReportedOnceTheyAreWhole) {
  omp_set_num_threads(2);
  for (const ConvShape& shape : shapes()) {
    const ConvOperands o({shape, 4, 12, Pattern::random, 3}, false);
    const auto want = run<Half>(o);
    ConvResults<Half> found = want;
    found.input_gradient.assign(want.input_gradient.size(), to_half(0.5f));
    std::vector<int> seen(static_cast<std::size_t>(shape.batch));
    const auto each = static_cast<std::ptrdiff_t>(want.input_gradient.size() / seen.size());
    const auto after = [&](int image) {
      const auto* made = found.input_gradient.data() + each * image;
      const bool whole = std::equal(made, made + each, want.input_gradient.data() + each * image,
                                    [](Half a, Half b) { return a.bits == b.bits; });
      seen[static_cast<std::size_t>(image)] += whole ? 1 : 100;
    };
    conv_backward({.shape = shape,
                   .kinds = {{o.input.view(), o.errors.view()}},
                   .weights = o.weights,
                   .input_gradient = found.input_gradient.data(),
                   .weight_gradient = found.weight_gradient,
                   .after_image = after});
    expect_same(want, found, describe(o.c));
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << describe(o.c);
  }
}

}  // namespace
}  // namespace bitcycle::integer
