// Every instruction set against the scalar reference, byte for byte, and the scalar reference
// against the oracle.

#include "kernels/integer/conv_cases.h"

namespace bitcycle::integer {
namespace {

using namespace testing;

std::vector<ConvShape> small_shapes() {
  return {
      {2, 8, 8, 16, 16, 3, 1, 1},  {1, 7, 9, 32, 16, 3, 2, 1},  {3, 5, 5, 16, 32, 3, 1, 1},
      {1, 9, 6, 3, 16, 3, 1, 1},   {2, 6, 7, 5, 7, 3, 2, 1},    {1, 11, 13, 3, 20, 7, 2, 1},
      {2, 4, 4, 64, 24, 1, 1, 1},  {1, 7, 7, 24, 40, 1, 2, 1},  {5, 1, 1, 64, 10, 1, 1, 1},
      {2, 6, 5, 24, 24, 3, 1, 24}, {1, 9, 8, 18, 18, 3, 2, 18}, {1, 5, 5, 8, 12, 3, 1, 4},
      {1, 1, 1, 1, 1, 1, 1, 1},    {70, 1, 1, 20, 3, 1, 1, 1},  {1, 3, 2, 17, 33, 5, 2, 1},
      {2, 6, 6, 16, 16, 7, 1, 16}, {1, 4, 4, 96, 96, 3, 1, 1},  {5, 7, 7, 64, 16, 3, 1, 1},
      {5, 7, 7, 32, 32, 3, 1, 32},
  };
}

TEST(IntegerConv, EveryShapeMatchesTheOracleOnEverySet) {
  for (const ConvShape& shape : small_shapes()) {
    for (const int bits : {3, 8}) check_case({shape, bits, 8, Pattern::random, 0});
  }
}

TEST(IntegerConv, EveryWidthIsExactOnRandomAndWorstOperands) {
  for (const int bits : {2, 3, 4, 5, 6, 7, 8}) {
    for (const Pattern pattern : {Pattern::random, Pattern::worst}) {
      check_case({{2, 5, 6, 32, 16, 3, 1, 1}, bits, 8, pattern, 0});
      check_case({{1, 5, 6, 16, 16, 3, 2, 16}, bits, 8, pattern, 0});
    }
  }
}

// Errors whose differences from the zero point are 8-bit numbers, and others.
TEST(IntegerConv, DepthwiseShapes) {
  for (const ConvShape& shape : depthwise_shapes()) {
    check_case({shape, 4, 7, Pattern::random, 0});
    check_case({shape, 8, 8, Pattern::random, 9, 128});
    check_case({shape, 8, 8, Pattern::random, 200, 90});
    check_case({shape, 8, 8, Pattern::worst, 0, 128});
    check_case({shape, 5, 8, Pattern::worst, 31});
  }
}

TEST(IntegerConv, ErrorWidthsAndInputZeroPoints) {
  for (const ConvShape& shape : {small_shapes()[1], small_shapes()[4], small_shapes()[10]}) {
    for (const int error_bits : {2, 4, 6, 7, 8}) {
      for (const int bits : {3, 8}) check_case({shape, bits, error_bits, Pattern::random, 5});
    }
    check_case({shape, 8, 8, Pattern::random, 131});
    check_case({shape, 8, 8, Pattern::worst, 255});
  }
}

// Image n of a batch convolved by itself.
ConvResults<Half> run_image(const ConvOperands& all, int n) {
  ConvShape s = all.c.shape;
  Codes input = all.input.view();
  Codes errors = all.errors.view();
  input.data += n * s.input_grid().image_bytes();
  errors.data += n * s.error_grid().image_bytes();
  s.batch = 1;
  ConvResults<Half> r;
  r.output.resize(static_cast<std::size_t>(s.error_grid().elements()));
  r.input_gradient.resize(static_cast<std::size_t>(s.input_grid().elements()));
  conv_forward(s, input, all.weights, {}, r.output.data(), nullptr);
  conv_backward_data(s, errors, all.weights, r.input_gradient.data());
  return r;
}

// Large results are written past the caches.
TEST(IntegerConv, LargeDepthwiseResultsAreThoseOfSingleImages) {
  for (const ConvShape& shape : {ConvShape{66, 53, 51, 24, 24, 3, 1, 24},
                                 {65, 52, 49, 27, 27, 3, 2, 27},
                                 {20, 7, 701, 48, 48, 3, 1, 48},
                                 {40, 25, 151, 32, 32, 3, 2, 32}}) {
    const ConvOperands operands({shape, 4, 8, Pattern::random, 3}, false);
    const auto all = run<Half>(operands);
    for (const int n : {0, shape.batch / 2, shape.batch - 1}) {
      const auto one = run_image(operands, n);
      const auto is_part = [n](const auto& part, const auto& whole) {
        const auto size = static_cast<std::ptrdiff_t>(part.size());
        return std::equal(part.begin(), part.end(), whole.begin() + n * size,
                          [](Half a, Half b) { return a == b; });
      };
      EXPECT_TRUE(is_part(one.output, all.output)) << describe(operands.c);
      EXPECT_TRUE(is_part(one.input_gradient, all.input_gradient)) << describe(operands.c);
    }
  }
}

TEST(IntegerConv, DoesNotDependOnTheNumberOfThreads) {
  const ConvOperands operands({{9, 8, 8, 16, 32, 3, 2, 1}, 4, 8, Pattern::random, 3}, false);
  omp_set_num_threads(1);
  const auto one = run<Half>(operands);
  for (const int count : {2, 5}) {
    omp_set_num_threads(count);
    expect_same(one, run<Half>(operands), std::to_string(count) + " threads");
  }
}

}  // namespace
}  // namespace bitcycle::integer
