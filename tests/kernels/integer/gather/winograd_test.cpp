// Note [Winograd]: where it is used, and that it is exact there, to the ends of its bounds.

#include "kernels/integer/conv/conv_cases.h"

namespace bitcycle::integer {
namespace {

using namespace testing;

int multiplications = 0;
const Microkernels* counted = nullptr;

// Whether a set, AVX2 unless told, goes by tiles; its results must be those of the scalar reference
// either way.
bool uses_winograd(const ConvOperands& operands, const Microkernels& set = avx2_microkernels()) {
  counted = &set;
  Microkernels table = set;
  table.winograd.multiply = [](const TilesJob& job) {
    ++multiplications;
    counted->winograd.multiply(job);
  };
  multiplications = 0;
  const ScopedIsa scope(table);
  const auto found = run<float>(operands);
  expect_same(run_on<float>(Isa::scalar, operands), found, describe(operands.c));
  return multiplications > 0;
}

// Codes by a function of row, column and channel.
template <typename Code>
void set_codes(TestCodes& codes, Code code) {
  const CodeGrid& grid = codes.grid;
  for (std::size_t i = 0; i < codes.dense.size(); ++i) {
    const int pixel = static_cast<int>(i) / grid.channels;
    codes.dense[i] = static_cast<std::uint8_t>(
        code(pixel / grid.width % grid.height, pixel % grid.width, int(i) % grid.channels));
  }
  codes.fill_padded();
}

// Codes of weights by a function of output, tap and input; the scale is 1 and the offset 0 where
// both ends occur in every channel.
template <typename Code>
void set_weights(ConvOperands& operands, Code code) {
  const ConvShape& s = operands.c.shape;
  std::vector<float> weights(static_cast<std::size_t>(s.weights()));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const int tap = static_cast<int>(i) / s.in_channels;
    weights[i] = static_cast<float>(code(tap / 9, tap % 9, static_cast<int>(i) % s.in_channels));
  }
  operands.weights.quantize(weights, operands.c.weight_bits());
}

TEST(Winograd, TakesThreeByThreeConvolutionsOfWholeTilesAtFewBits) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  const auto used = [](ConvShape shape, int bits) {
    return uses_winograd(ConvOperands({shape, bits, 8, Pattern::random, 1}, false));
  };
  for (const int bits : {2, 3, 4, 5}) EXPECT_TRUE(used({1, 6, 8, 32, 16, 3, 1, 1}, bits));
  EXPECT_FALSE(used({1, 6, 8, 32, 16, 3, 1, 1}, 6));
  EXPECT_TRUE(used({1, 4, 4, 16, 5, 3, 1, 1}, 3));
  EXPECT_FALSE(used({1, 5, 4, 16, 16, 3, 1, 1}, 3));
  EXPECT_FALSE(used({1, 4, 7, 16, 16, 3, 1, 1}, 3));
  EXPECT_FALSE(used({1, 2, 2, 16, 16, 3, 1, 1}, 3));
  EXPECT_FALSE(used({1, 8, 8, 48, 16, 3, 1, 1}, 3));
  EXPECT_FALSE(used({1, 8, 8, 16, 16, 3, 2, 1}, 3));
  EXPECT_FALSE(used({1, 8, 8, 16, 16, 1, 1, 1}, 3));
  EXPECT_FALSE(used({1, 8, 8, 16, 16, 3, 1, 16}, 3));
}

// Codes of 8 bits do not go forward by tiles, so that these are errors.
TEST(Winograd, TakesErrorsOfFewBitsBackward) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  const auto operands = [](ConvShape shape, int error_bits, int weight_bits) {
    return ConvOperands({shape, 8, error_bits, Pattern::random, 1, {}, weight_bits}, false);
  };
  const ConvShape shape{2, 6, 8, 24, 32, 3, 1, 1};
  EXPECT_TRUE(uses_winograd(operands(shape, 4, 4)));
  EXPECT_FALSE(uses_winograd(operands(shape, 7, 4)));
  EXPECT_FALSE(uses_winograd(operands(shape, 4, 6)));
  EXPECT_FALSE(uses_winograd(operands({2, 6, 8, 32, 24, 3, 1, 1}, 4, 4)));
  if (!std::ranges::count(available_isas(), Isa::avx512)) return;
  const Microkernels& wide = avx512_microkernels();
  for (const int error_bits : {2, 4, 6, 9, 12}) {  // from 9 on in planes of up to 6
    EXPECT_TRUE(uses_winograd(operands(shape, error_bits, 4), wide)) << error_bits;
  }
  for (const int error_bits : {7, 8, 14, 16}) {
    EXPECT_FALSE(uses_winograd(operands(shape, error_bits, 4), wide)) << error_bits;
  }
}

// Weights that are quantized again go back by their own tiles.
TEST(Winograd, FollowsNewWeightsBackward) {
  omp_set_num_threads(1);
  ConvOperands operands({{1, 4, 4, 16, 16, 3, 1, 1}, 8, 4, Pattern::random, 1, {}, 4}, false);
  run<float>(operands);
  operands.weights.quantize(real_weights(operands.c.shape, RandomKey(77)), 4);
  for (const Isa isa : available_isas()) {
    expect_same(run_on<float>(Isa::scalar, operands), run_on<float>(isa, operands),
                std::string(name(isa)));
  }
}

TEST(Winograd, ExactOnAllShapes) {
  for (const ConvShape& shape : {ConvShape{1, 32, 32, 16, 16, 3, 1, 1},
                                 {2, 16, 16, 32, 32, 3, 1, 1},
                                 {1, 8, 8, 64, 64, 3, 1, 1},
                                 {5, 4, 4, 32, 40, 3, 1, 1},    // images share a work item
                                 {1, 4, 110, 16, 24, 3, 1, 1},  // wide: several chunks a band
                                 {3, 6, 10, 16, 7, 3, 1, 1},    // odd numbers of tiles
                                 {2, 14, 14, 96, 16, 3, 1, 1},
                                 {2, 9, 12, 16, 16, 3, 1, 1},  // these go by pixels
                                 {1, 8, 8, 48, 16, 3, 1, 1},
                                 {1, 6, 6, 17, 19, 3, 1, 1}}) {
    for (const int bits : {2, 3, 4, 5}) {
      check_case({shape, bits, 8, Pattern::random, 0});
      check_case({shape, bits, 8, Pattern::worst, 2});
      check_case({shape, bits, bits + 1, Pattern::random, 1});
      check_case({shape, bits, 12, Pattern::worst, 0});
    }
  }
}

// Every point of codes and weights reaches its ends with some of these.
void check_ends(int weight_bits, int bits, int channels) {
  const int top = (1 << bits) - 1;
  const int half = 1 << (weight_bits - 1);
  for (int pattern = 0; pattern < 16; ++pattern) {
    ConvOperands operands(
        {{1, 8, 8, channels, 16, 3, 1, 1}, bits, 8, Pattern::worst, top / 2 + 1, {}, weight_bits},
        true);
    const auto sign = [](int along, int i) { return along == 0 ? 0 : (i / along) % 2; };
    set_codes(operands.input, [&](int y, int x, int) {
      return (sign(pattern % 4, y) + sign(pattern / 4, x)) % 2 == 0 ? top : 0;
    });
    expect_exact(operands, "codes " + std::to_string(pattern));
    set_weights(operands, [&](int out, int tap, int) {
      return (sign(pattern % 4, tap / 3) + sign(pattern / 4, tap % 3) + out) % 2 == 0 ? -half
                                                                                      : half - 1;
    });
    expect_exact(operands, "codes and weights " + std::to_string(pattern));
  }
}

TEST(Winograd, ExactAtTheEndsOfAllPoints) {
  omp_set_num_threads(1);
  for (const int channels : {16, 64}) {
    for (const int bits : {2, 3, 4, 5, 6}) {
      check_ends(bits, bits, channels);
      check_ends(3, bits, channels);
    }
  }
}

// 5 bits, codes 0: a lane of negative weights adds up to 64 times their magnitudes.
TEST(Winograd, TheWeightsDecideWhetherSumsFit) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  const auto used = [](int magnitudes) {
    ConvOperands operands({{1, 6, 8, 32, 16, 3, 1, 1}, 5, 8, Pattern::worst, 3}, true);
    set_codes(operands.input, [](int, int, int) { return 0; });
    set_weights(operands, [&](int, int tap, int in) {
      const int index = tap * 8 + in % 16 / 4 * 2 + in % 2;  // within a lane of a slice
      const bool other_lane = in % 4 >= 2;                   // has the ends of the range
      if (other_lane) return index == 0 ? 15 : index == 1 ? -16 : 0;
      return in >= 16 ? 0 : -(magnitudes / 72 + (index < magnitudes % 72 ? 1 : 0));
    });
    return uses_winograd(operands);
  };
  EXPECT_TRUE(used(511));
  EXPECT_FALSE(used(512));
}

// 6-bit codes, points of up to 252, times two points of 9 weights.
TEST(Winograd, TheWeightsDecideWhetherPairsFit) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  const auto used = [](int weight) {
    ConvOperands operands({{1, 4, 4, 16, 16, 3, 1, 1}, 6, 8, Pattern::worst, 0, {}, 4}, true);
    set_codes(operands.input, [](int, int, int) { return 63; });
    set_weights(operands, [&](int, int tap, int in) {
      const bool other_pair = in >= 2;  // has the ends of the range
      return other_pair ? (tap > 1 ? 0 : tap == 0 ? 7 : -8) : weight;
    });
    return uses_winograd(operands);
  };
  EXPECT_TRUE(used(-7));
  EXPECT_FALSE(used(-8));
}

// Points that are no bytes: the sum of 9 weights of -16.
TEST(Winograd, TheWeightsDecideWhetherPointsAreBytes) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  const auto used = [](int weight) {
    ConvOperands operands({{1, 4, 4, 16, 16, 3, 1, 1}, 5, 8, Pattern::worst, 0}, true);
    set_weights(operands, [&](int, int tap, int in) {
      if (in == 0) return weight;
      return in == 2 && tap < 2 ? (tap == 0 ? 15 : -16) : 0;
    });
    return uses_winograd(operands);
  };
  EXPECT_TRUE(used(-14));
  EXPECT_FALSE(used(-15));
}

// All weights at one end.
TEST(Winograd, FewBitsAlwaysFit) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has no AVX2";
  omp_set_num_threads(1);
  for (const int bits : {2, 3, 4}) {
    for (const int channels : {16, 32, 128, 480}) {
      ConvOperands operands({{1, 4, 4, channels, 16, 3, 1, 1}, bits, 8, Pattern::worst, 0}, true);
      set_codes(operands.input, [](int, int, int) { return 0; });
      EXPECT_TRUE(uses_winograd(operands)) << bits << " bits, " << channels << " channels";
    }
  }
}

}  // namespace
}  // namespace bitcycle::integer
