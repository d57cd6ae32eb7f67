// Batches in which every image has its own widths: each set against the definition, byte for byte.

#include "kernels/integer/conv/kind_cases.h"

namespace bitcycle::integer {
namespace {

using namespace testing;

TEST(ConvKinds, EveryShapeMatchesItsDefinitionOnEverySet) {
  omp_set_num_threads(1);
  for (const ConvShape& shape : kind_shapes()) {
    for (const int weight_bits : {3, 8}) {
      const KindOperands operands(shape, weight_bits, kKinds);
      const ScopedIsa scope(Isa::scalar);
      const ConvResults<float> want = KindReference(operands).results();
      for (const Isa isa : available_isas()) {
        const ScopedIsa own(isa);
        const std::string what = describe(operands) + ", " + std::string(name(isa));
        expect_same(want, run_kinds<float>(operands, From::memory), what);
        expect_same(want, run_kinds<float>(operands, From::makers), what + ", made");
      }
    }
  }
}

TEST(ConvKinds, DoNotDependOnTheNumberOfThreads) {
  for (const ConvShape& shape : kind_shapes()) {
    const KindOperands operands(shape, 4, kKinds);
    omp_set_num_threads(1);
    const auto one = run_kinds<Half>(operands, From::makers);
    for (const int count : {2, 3}) {
      omp_set_num_threads(count);
      expect_same(one, run_kinds<Half>(operands, From::makers), describe(operands));
    }
  }
}

TEST(ConvKinds, OfEqualParametersAreOneCallWithASumPerImage) {
  omp_set_num_threads(2);
  for (const ConvShape& shape : {ConvShape{7, 8, 8, 16, 16, 3, 1, 1},
                                 {5, 9, 8, 18, 18, 3, 1, 18},
                                 {5, 6, 7, 8, 12, 3, 1, 4},
                                 {1, 3, 3, 16, 16, 3, 1, 1}}) {
    ASSERT_EQ(shape.images_a_sum(), 1);
    const ConvOperands o({shape, 4, 8, Pattern::random, 3}, false);
    const auto want = run<Half>(o);
    std::vector<int> even, odd;
    for (int n = 0; n < shape.batch; ++n) (n % 2 == 0 ? even : odd).push_back(n);
    const ImageCodes kinds[] = {{odd, o.input.view()}, {even, o.input.view()}};
    ConvResults<Half> found = want;
    found.output.assign(want.output.size(), {});
    found.stats = {};
    conv_forward(shape, kinds, o.weights, found.output.data(), found.stats);
    expect_same(want, found, describe(o.c));
  }
}

TEST(ConvKinds, OneKindWithoutAListIsThePlainCall) {
  const ConvOperands o({{9, 3, 3, 16, 16, 3, 1, 1}, 4, 8, Pattern::random, 3}, false);
  const auto want = run<Half>(o);
  ConvResults<Half> found = want;
  found.stats = {};
  const ImageCodes all{{}, o.input.view()};
  conv_forward(o.c.shape, {&all, 1}, o.weights, found.output.data(), found.stats);
  expect_same(want, found, describe(o.c));
}

TEST(ConvKinds, BackwardTouchesTheImagesOfItsKindAlone) {
  omp_set_num_threads(2);
  for (const ConvShape& shape : kind_shapes()) {
    if (shape.batch < 5) continue;
    const ConvOperands o({shape, 4, 8, Pattern::random, 3}, false);
    const auto want = run<float>(o);
    std::vector<float> gradient(want.input_gradient.size(), 7.0f);
    const std::vector<int> images{1, 2, 4};
    std::vector<int> seen(static_cast<std::size_t>(shape.batch));
    conv_backward({.shape = shape,
                   .kinds = {{{}, o.errors.view(), images}},
                   .weights = o.weights,
                   .input_gradient = gradient.data(),
                   .after_image = [&](int n) { ++seen[static_cast<std::size_t>(n)]; }});
    const std::size_t each = gradient.size() / seen.size();
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const bool own = std::ranges::count(images, static_cast<int>(i / each)) != 0;
      ASSERT_EQ(gradient[i], own ? want.input_gradient[i] : 7.0f) << describe(o.c);
    }
    for (std::size_t n = 0; n < seen.size(); ++n) {
      EXPECT_EQ(seen[n], std::ranges::count(images, static_cast<int>(n)));
    }
  }
}

TEST(ConvKinds, WhatIsThereDoesNotCount) {
  const KindOperands o(kind_shapes().front(), 4, kKinds);
  const auto want = run_kinds<float>(o, From::makers);
  std::vector<float> found(want.weight_gradient.size(), 0.7f);
  conv_backward({.shape = o.shape,
                 .kinds = backward_kinds_of(o, From::makers),
                 .weights = o.weights,
                 .input_gradient = {},
                 .weight_gradient = found});
  EXPECT_EQ(found, want.weight_gradient);
}

}  // namespace
}  // namespace bitcycle::integer
