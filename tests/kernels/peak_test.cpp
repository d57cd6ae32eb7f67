#include "bitcycle/kernels/peak.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;

bool has(Isa isa) {
  return std::ranges::count(available_isas(), isa) > 0;
}

TEST(PeakTest, EachPassHasTheMixThatItsWidthsAllow) {
  // A lane of vpmaddubsw is at most 2 (2^u - 1) 2^(s-1), and two must fit 32767: 3 x 3 bits make
  // 56, 8 x 3 bits 2040, 3 x 8 bits 1792, 8 x 6 bits 16320, 8 x 7 bits 32640.
  EXPECT_THAT(code_mixes(Isa::avx2, {.weight = 3, .activation = 3, .error = 8}),
              ElementsAre(Mix::chained, Mix::chained, Mix::chained));
  EXPECT_THAT(code_mixes(Isa::avx2, {.weight = 6, .activation = 8, .error = 7}),
              ElementsAre(Mix::chained, Mix::chained, Mix::widened));
  EXPECT_THAT(code_mixes(Isa::avx2, {.weight = 8, .activation = 8, .error = 8}),
              ElementsAre(Mix::widened, Mix::widened, Mix::widened));
  // 12 bits are two planes of 6: 6 x 8 bits make 16128, 8 x 6 bits 16320.
  EXPECT_THAT(code_mixes(Isa::avx2, {.weight = 8, .activation = 8, .error = 12}),
              ElementsAre(Mix::widened, Mix::chained, Mix::chained));
  EXPECT_THAT(code_mixes(Isa::avx512, {8, 8, 8}), ElementsAre(Mix::vnni, Mix::vnni, Mix::vnni));
  EXPECT_THAT(code_mixes(Isa::scalar, {3, 3, 8}), ElementsAre(Mix::plain, Mix::plain, Mix::plain));
}

TEST(PeakTest, ARoundCountsTheProductsOfTwelveRegisters) {
  if (!has(Isa::avx2)) GTEST_SKIP() << "this machine has no AVX2";
  EXPECT_EQ(run_mix(Mix::chained, 5), 5 * 12 * 32);
  EXPECT_EQ(run_mix(Mix::widened, 5), 5 * 12 * 32);
  EXPECT_EQ(run_mix(Mix::wide, 5), 5 * 12 * 16);
  EXPECT_EQ(run_mix(Mix::fma_avx2, 5), 5 * 12 * 8);
  if (!has(Isa::avx512)) return;
  EXPECT_EQ(run_mix(Mix::vnni, 5), 5 * 12 * 64);
  EXPECT_EQ(run_mix(Mix::fma_avx512, 5), 5 * 12 * 16);
}

TEST(PeakTest, PlainCodeRunsEverywhere) {
  EXPECT_EQ(run_mix(Mix::plain, 5), 5 * 64);
  EXPECT_EQ(run_mix(Mix::plain_float, 5), 5 * 64);
}

TEST(PeakTest, AStepIsAsFastAsItsPassesOneAfterTheOther) {
  const double speeds[] = {10, 20, 5};  // 1 unit at each: 0.1 + 0.05 + 0.2 seconds for 3 units
  EXPECT_DOUBLE_EQ(harmonic_mean(speeds), 3 / 0.35);
}

}  // namespace
}  // namespace bitcycle
