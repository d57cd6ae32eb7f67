// Every instruction set against the scalar reference, byte for byte, and the scalar reference
// against the oracle.

#include "bitcycle/base/error.h"

#include "kernels/integer/conv/conv_cases.h"

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

TEST(IntegerConv, DenseStridesBeyondTwo) {
  for (const int bits : {3, 5, 6, 8}) {
    check_case({{2, 10, 11, 16, 24, 3, 3, 1}, bits, 8, Pattern::random, 1});
    check_case({{1, 9, 9, 12, 16, 1, 3, 1}, bits, 8, Pattern::worst, 0});
  }
}

// More pixels than 32-bit sums of 8-bit products may hold.
TEST(IntegerConv, LongWeightGradientsAreEmptiedInTime) {
  check_case({{1, 200, 200, 3, 5, 3, 1, 1}, 8, 8, Pattern::worst, 0, 255});
  check_case({{1, 200, 200, 3, 5, 3, 1, 1}, 8, 8, Pattern::random, 77, 0});
}

TEST(IntegerConv, EveryPairOfWidthsIsExact) {
  for (int weight_bits = 2; weight_bits <= 8; ++weight_bits) {
    for (int bits = 2; bits <= 8; ++bits) {
      const Pattern pattern = (weight_bits + bits) % 2 == 0 ? Pattern::worst : Pattern::random;
      ConvCase c{.shape = {2, 4, 6, 32, 16, 3, 1, 1}, .bits = bits, .pattern = pattern};
      c.own_weight_bits = weight_bits;
      check_case(c);
      c.shape = {1, 5, 6, 24, 16, 3, 2, 1};
      c.zero_point = (1 << bits) / 3;
      check_case(c);
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

// The results of operands whose codes are made image by image.
void run_on_the_way(const ConvOperands& o, std::function<void(int)> after_image,
                    ConvResults<Half>& r) {
  const ConvShape& s = o.c.shape;
  const CopiedCodes input(o.input.grid, o.input.padded), errors(o.errors.grid, o.errors.padded);
  conv_forward(s, {nullptr, o.input.params, &input}, o.weights, r.output.data(), r.stats);
  conv_backward(
      {.shape = s,
       .kinds = {{{nullptr, o.input.params, &input}, {nullptr, o.errors.params, &errors}}},
       .weights = o.weights,
       .input_gradient = r.input_gradient.data(),
       .weight_gradient = r.weight_gradient,
       .after_image = std::move(after_image)});
}

TEST(IntegerConv, CodesMadeOnTheWayGiveTheSameBytes) {
  omp_set_num_threads(2);
  for (const ConvShape& shape : small_shapes()) {
    const ConvOperands operands({shape, 4, 8, Pattern::random, 3}, false);
    const auto want = run<Half>(operands);
    ConvResults<Half> found = want;
    found.input_gradient.assign(want.input_gradient.size(), to_half(0.5f));
    std::vector<int> seen(static_cast<std::size_t>(shape.batch));
    const std::size_t each = want.input_gradient.size() / seen.size();
    const auto after = [&](int image) {
      const auto first = static_cast<std::ptrdiff_t>(each) * image;
      const auto* made = found.input_gradient.data() + first;
      const bool whole = std::equal(made, made + each, want.input_gradient.data() + first,
                                    [](Half a, Half b) { return a.bits == b.bits; });
      seen[static_cast<std::size_t>(image)] += whole ? 1 : 100;
    };
    run_on_the_way(operands, after, found);
    expect_same(want, found, describe(operands.c));
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << describe(operands.c);
  }
}

TEST(IntegerConv, EitherBackwardProductCanBeLeftOut) {
  const ConvOperands o({{5, 7, 7, 64, 16, 3, 1, 1}, 3, 8, Pattern::random, 0}, false);
  const auto want = run<Half>(o);
  ConvResults<Half> found = want;
  found.input_gradient.assign(want.input_gradient.size(), {});
  found.weight_gradient.assign(want.weight_gradient.size(), 0.0f);
  conv_backward({o.c.shape, {{{}, o.errors.view()}}, o.weights, found.input_gradient.data(), {}});
  conv_backward(
      {o.c.shape, {{o.input.view(), o.errors.view()}}, o.weights, {}, found.weight_gradient});
  expect_same(want, found, describe(o.c));
}

TEST(IntegerConv, RowsThatSumsCannotHoldAreRefused) {
  const ConvOperands o({{1, 1, 40000, 1, 1, 1, 1, 1}, 8, 8, Pattern::worst, 0}, false);
  std::vector<float> gradient(1);
  EXPECT_THROW(
      conv_backward({o.c.shape, {{o.input.view(), o.errors.view()}}, o.weights, {}, gradient}),
      Error);
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
