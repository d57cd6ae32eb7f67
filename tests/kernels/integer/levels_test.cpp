// The levels of Note [Exact dot products]: that codes get the level that their sums allow, and that
// every kernel is exact on both sides of every limit.

#include "kernels/integer/conv_cases.h"

#include <numeric>

namespace bitcycle::integer {
namespace {

using namespace testing;

// The longest chain of 4 steps or fewer, as a level, for which `sum(first step, steps)` stays
// within the limit wherever chains of that length start.
template <typename Sum>
int expected_level(int steps, int limit, Sum sum) {
  for (int level = 1; level < kWideLevel; ++level) {
    const int chain = 8 >> level;
    bool fits = steps % chain == 0;
    for (int s = 0; s < steps && fits; s += chain) fits = sum(s, chain) <= limit;
    if (fits) return level;
  }
  return kWideLevel;
}

bool has_byte_differences(std::span<const std::uint8_t> codes, int zero) {
  return std::all_of(codes.begin(), codes.end(),
                     [zero](int code) { return std::abs(code - zero) <= 127; });
}

// The largest sum in a lane of `chain` steps of a pixel.
int lane_sum(const std::uint8_t* codes, int zero, int first, int chain) {
  int largest = 0;
  for (int lane = 0; lane < 2; ++lane) {
    int sum = 0;
    for (int s = first; s < first + chain; ++s) {
      for (int k = 0; k < 2; ++k) sum += std::abs(codes[s * 4 + lane * 2 + k] - zero);
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

// Codes whose distances from the zero point grow with the pixel, so that all levels occur.
std::vector<std::uint8_t> growing_codes(int pixels, int channels, int zero) {
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(pixels) * channels + kCodeSlack);
  for (std::size_t i = 0; i < codes.size() - kCodeSlack; ++i) {
    const auto spread = 2 + i / static_cast<std::size_t>(channels) % 160;
    const auto distance = static_cast<int>(RandomKey(9).below(i, spread + 1));
    const bool down = zero > 0 && RandomKey(10).below(i, 2) == 1;
    codes[i] = static_cast<std::uint8_t>(std::clamp(zero + (down ? -distance : distance), 0, 255));
  }
  return codes;
}

// Of a pixel that is one of `row` pixels under a row of taps.
int expected_level(std::span<const std::uint8_t> pixel, int zero, int limit, int row) {
  if (zero > 0 && !has_byte_differences(pixel, zero)) return kWideLevel;
  const int steps = static_cast<int>(pixel.size()) / 4;
  if (lane_sum(pixel.data(), zero, 0, steps) <= limit / row) return 0;
  return expected_level(steps, limit, [&](int first, int chain) {
    return lane_sum(pixel.data(), zero, first, chain);
  });
}

struct SurveyCase {
  int channels, zero, bits, row;
};

// Answers how often each level occurred.
std::array<int, kLevels> check_survey(const SurveyCase& c) {
  constexpr int kPixels = 1000;
  const int limit = (c.zero == 0 ? unsigned_limit : signed_limit)(c.bits);
  const std::vector<std::uint8_t> codes = growing_codes(kPixels, c.channels, c.zero);
  std::vector<std::uint8_t> levels(kPixels), differences(codes.size());
  std::vector<std::int32_t> sums(kPixels);
  avx2_microkernels().survey({codes.data(), kPixels, c.channels, c.zero, limit, c.row,
                              levels.data(), c.zero == 0 ? nullptr : differences.data(),
                              sums.data()});
  std::array<int, kLevels> found{};
  for (std::size_t p = 0; p < kPixels; ++p) {
    const auto channels = static_cast<std::size_t>(c.channels);
    const auto pixel = std::span(codes).subspan(p * channels, channels);
    EXPECT_EQ(levels[p], expected_level(pixel, c.zero, limit, c.row))
        << c.channels << " channels, zero " << c.zero << ", " << c.bits << " bits";
    EXPECT_EQ(sums[p], std::accumulate(pixel.begin(), pixel.end(), 0));
    ++found[levels[p]];
  }
  return found;
}

TEST(Levels, SurveyFindsTheLongestChains) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has no AVX2";
  std::array<int, kLevels> found{};
  for (const int channels : {8, 16, 24, 48, 64}) {
    for (const int zero : {0, 100, 127, 160}) {
      for (const int bits : {4, 6, 8}) {
        for (const int row : {1, 3}) {
          const auto more = check_survey({channels, zero, bits, row});
          for (std::size_t level = 0; level < kLevels; ++level) found[level] += more[level];
        }
      }
    }
  }
  for (const int count : found) EXPECT_GT(count, 0);
}

constexpr int kUnitBytes = kUnitSteps * kStepBytes;

// The largest sum in a lane of `chain` steps of interleaved errors.
int panel_sum(std::span<const std::uint8_t> codes, int zero, int first, int chain) {
  int largest = 0;
  for (int lane = 0; lane < 2 * kPanel; ++lane) {
    int sum = 0;
    for (int i = 0; i < 2 * chain; ++i) {
      const int at = (first + i / 2) * kStepBytes + lane * 2 + i % 2;
      sum += std::abs(codes[std::size_t(at)] - zero);
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

UnitLevel expected_unit_level(std::span<const std::uint8_t> unit, int zero, int limit) {
  if (!has_byte_differences(unit, zero)) return UnitLevel::wide;
  const int level = expected_level(
      kUnitSteps, limit, [&](int first, int chain) { return panel_sum(unit, zero, first, chain); });
  return static_cast<UnitLevel>(level - 1);
}

// Runs are as long as their sums stay within the limit and no longer.
void check_units(int zero, int limit, std::array<int, kUnitLevels>& found) {
  constexpr int kUnits = 501;
  std::vector<std::uint8_t> panel = growing_codes(kUnits, kUnitBytes, zero);
  const std::vector<std::uint8_t> codes = panel;
  for (std::uint8_t& code : panel) code = static_cast<std::uint8_t>(code - zero);
  std::vector<UnitLevel> levels(kUnits);
  std::vector<int> runs(kUnits);
  avx2_microkernels().survey_units({panel.data(), kUnits, zero, limit, levels.data(), runs.data()});
  const auto units = [&](int first, int count) {
    return std::span(codes).subspan(std::size_t(first) * kUnitBytes,
                                    std::size_t(count) * kUnitBytes);
  };
  for (int u = 0; u < kUnits; ++u) {
    ASSERT_EQ(levels[std::size_t(u)], expected_unit_level(units(u, 1), zero, limit)) << u;
    ++found[std::size_t(levels[std::size_t(u)])];
  }
  for (int u = 0; u < kUnits;) {
    const int run = runs[std::size_t(u)];
    const auto sum = [&](int count) {
      return panel_sum(units(u, count), zero, 0, count * kUnitSteps);
    };
    const bool chain = levels[std::size_t(u)] == UnitLevel::run;
    ASSERT_TRUE(chain ? sum(run) <= limit : run == 1) << u;
    const bool ends_early =
        chain && u + run < kUnits && levels[std::size_t(u + run)] == UnitLevel::run;
    ASSERT_TRUE(!ends_early || sum(run + 1) > limit) << u;
    u += run;
  }
}

TEST(Levels, UnitsFindTheLongestChains) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has no AVX2";
  std::array<int, kUnitLevels> found{};
  for (const int zero : {90, 127, 160}) {
    for (const int bits : {3, 5, 8}) check_units(zero, signed_limit(bits), found);
  }
  for (const int count : found) EXPECT_GT(count, 0);
}

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
          std::fill(operands.input.dense.begin(), operands.input.dense.end(),
                    static_cast<std::uint8_t>(std::min(distance, operands.input.params.levels())));
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
                       [&](int code) { return std::min(code, codes->params.levels()); });
        codes->fill_padded();
      }
      expect_exact(operands, describe(operands.c));
    }
  }
}

}  // namespace
}  // namespace bitcycle::integer
