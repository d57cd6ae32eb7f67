// The long sweep: every width on either side, with and without input zero points, over shapes with
// odd sizes, tails, borders and strides.

#include "kernels/integer/conv/conv_cases.h"

namespace bitcycle::integer {
namespace {

using namespace testing;

std::vector<ConvShape> sweep_shapes() {
  std::vector<ConvShape> shapes;
  for (const int kernel : {1, 3, 7}) {
    for (const int stride : {1, 2}) {
      for (const auto& [in, out] : {std::pair{16, 16}, {3, 16}, {32, 24}, {5, 7}, {64, 40}}) {
        shapes.push_back({2, 6, 9, in, out, kernel, stride, 1});
      }
      for (const int channels : {16, 23, 40}) {
        shapes.push_back({2, 7, 6, channels, channels, kernel, stride, channels});
      }
    }
  }
  shapes.push_back({3, 32, 32, 16, 16, 3, 1, 1});
  shapes.push_back({2, 8, 8, 64, 64, 3, 1, 1});
  shapes.push_back({130, 1, 1, 96, 100, 1, 1, 1});
  shapes.push_back({1, 100, 90, 16, 16, 3, 2, 1});
  return shapes;
}

TEST(IntegerConvSweep, EveryWidthAndShape) {
  for (const ConvShape& shape : sweep_shapes()) {
    for (const int bits : {2, 3, 4, 5, 6, 7, 8}) {
      check_case({shape, bits, 8, Pattern::random, 0});
      check_case({shape, bits, 8, Pattern::worst, bits});
    }
  }
}

TEST(IntegerConvSweep, EveryPairOfWidths) {
  for (const int bits : {2, 3, 4, 5, 6, 7, 8}) {
    for (const int error_bits : {2, 3, 4, 5, 6, 7, 8}) {
      check_case({{2, 6, 7, 32, 16, 3, 1, 1}, bits, error_bits, Pattern::random, 3});
      check_case({{2, 6, 7, 16, 32, 3, 2, 1}, bits, error_bits, Pattern::worst, 0});
    }
  }
}

}  // namespace
}  // namespace bitcycle::integer
