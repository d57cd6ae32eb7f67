// The levels of Note [Exact dot products]: that every kernel is exact on both sides of every limit.

#include "kernels/integer/conv/conv_cases.h"

namespace bitcycle::integer {
namespace {

using namespace testing;

// Every code at the same distance from its zero point, weights at the ends of their range: lanes
// are as large as a level lets them get, and one more for the next.
TEST(Levels, ExactOnBothSidesOfEveryLimit) {
  omp_set_num_threads(1);
  for (const int bits : {4, 5, 6, 7, 8}) {
    for (const ConvShape& shape : {ConvShape{2, 5, 6, 32, 16, 3, 1, 1},
                                   {1, 8, 8, 16, 24, 3, 2, 1},
                                   {1, 6, 7, 24, 40, 1, 1, 1},
                                   {1, 6, 7, 3, 16, 3, 1, 1}}) {
      for (const int distance : {1, 3, 4, 5, 10, 11, 15, 16, 21, 22, 31, 32, 63, 64, 127, 128}) {
        for (const int sign : {-1, 1}) {
          ConvOperands operands({shape, bits, 8, Pattern::worst, 0}, true);
          operands.errors.params.zero_point = 128;
          std::fill(operands.errors.dense.begin(), operands.errors.dense.end(),
                    static_cast<std::uint8_t>(std::min(255, 128 + sign * distance)));
          std::fill(
              operands.input.dense.begin(), operands.input.dense.end(),
              static_cast<std::uint8_t>(std::min(distance, operands.input.params.largest_code())));
          operands.errors.fill_padded();
          operands.input.fill_padded();
          expect_exact(operands, "distance " + std::to_string(sign * distance));
        }
      }
    }
  }
}

// All levels next to each other in one image, with zero points that do and do not leave 8 bits to
// the differences.
TEST(Levels, ExactWhereLevelsMix) {
  omp_set_num_threads(1);
  for (const ConvShape& shape : {ConvShape{3, 17, 19, 16, 16, 3, 1, 1},
                                 {2, 16, 16, 32, 48, 3, 2, 1},
                                 {2, 9, 9, 24, 24, 1, 1, 1},
                                 {5, 7, 7, 64, 16, 3, 1, 1},
                                 {1, 30, 40, 5, 18, 5, 2, 1}}) {
    for (const int zero : {0, 20, 90, 127, 160, 255}) {
      const int bits = zero == 90 ? 5 : zero == 127 ? 6 : 8;
      ConvOperands operands({shape, bits, 8, Pattern::random, zero}, false);
      for (TestCodes* codes : {&operands.input, &operands.errors}) {
        const int centre = codes->params.zero_point;
        const auto channels = static_cast<std::size_t>(codes->grid.channels);
        const auto pixels = codes->dense.size() / channels;
        const auto values = growing_codes(static_cast<int>(pixels), codes->grid.channels, centre);
        std::transform(values.begin(), values.end() - kCodeSlack, codes->dense.begin(),
                       [&](int code) { return std::min(code, codes->params.largest_code()); });
        codes->fill_padded();
      }
      expect_exact(operands, describe(operands.c));
    }
  }
}

}  // namespace
}  // namespace bitcycle::integer
