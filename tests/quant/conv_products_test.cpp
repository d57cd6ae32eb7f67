// Both executors make the same bytes of batches whose images have widths of their own.

#include "quant/conv_products.h"

#include "kernels/integer/conv/kind_cases.h"

namespace bitcycle {
namespace {

using namespace integer::testing;
using integer::Half;

struct Outcome {
  ConvResults<Half> results;
  std::vector<int> after;  // how often each image was reported
};

Outcome products(const KindOperands& o, Executor executor) {
  const integer::ConvShape& s = o.shape;
  const std::vector<integer::ImageCodes> kinds = kinds_of(o, From::makers);
  Outcome out;
  ConvResults<Half>& r = out.results;
  out.after.resize(static_cast<std::size_t>(s.batch));
  r.output.resize(o.outputs());
  r.input_gradient.resize(static_cast<std::size_t>(s.input_grid().elements()));
  r.weight_gradient.assign(static_cast<std::size_t>(s.weights()), 0.25f);
  conv_products(executor).forward(s, kinds, o.weights, r.output.data(), r.stats);
  conv_products(executor).backward(
      {.shape = s,
       .kinds = backward_kinds_of(o, From::makers),
       .weights = o.weights,
       .input_gradient = r.input_gradient.data(),
       .weight_gradient = r.weight_gradient,
       .error_divisor = 8.0f,
       .after_image = [&](int n) { ++out.after[static_cast<std::size_t>(n)]; }});
  return out;
}

TEST(ConvProducts, OfSeveralKindsAreTheSameSimulatedAndExecuted) {
  for (const integer::ConvShape& shape : kind_shapes()) {
    for (const int weight_bits : {3, 8}) {
      const KindOperands operands(shape, weight_bits, kKinds);
      const Outcome executed = products(operands, Executor::integer);
      const Outcome simulated = products(operands, Executor::oracle);
      expect_same(executed.results, simulated.results, describe(operands));
      EXPECT_EQ(executed.after, std::vector<int>(executed.after.size(), 1));
      EXPECT_EQ(simulated.after, executed.after);
    }
  }
}

}  // namespace
}  // namespace bitcycle
