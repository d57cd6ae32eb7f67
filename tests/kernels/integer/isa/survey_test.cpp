// The surveys behind Note [Exact dot products]: that weights, codes and errors get the chains that
// their sums allow.

#include "kernels/integer/conv/conv_cases.h"

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

TEST(Survey, FindsTheLongestChains) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has no AVX2";
  std::array<int, kLevels> found{};
  for (const int channels : {8, 16, 24, 48, 64}) {
    for (const int zero : {0, 100, 127, 160}) {
      for (const int bits : {4, 6, 8}) {
        for (const int row : {1, 3, 7}) {
          const auto more = check_survey({channels, zero, bits, row});
          for (std::size_t level = 0; level < kLevels; ++level) found[level] += more[level];
        }
      }
    }
  }
  for (const int count : found) EXPECT_GT(count, 0);
}

// Other numbers of channels go by their largest code.
TEST(Survey, TakesTheLongestChainThatTheLargestCodeAllowsForOddChannels) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has no AVX2";
  constexpr int kPixels = 400;
  int found[kLevels] = {};
  for (const int channels : {3, 5, 18, 30}) {
    for (const auto& [row, bits] : {std::pair(1, 7), {3, 7}, {7, 7}, {1, 8}, {3, 8}}) {
      const int limit = unsigned_limit(bits);
      const std::vector<std::uint8_t> codes = growing_codes(kPixels, channels, 0);
      std::vector<std::uint8_t> levels(kPixels);
      std::vector<std::int32_t> sums(kPixels);
      avx2_microkernels().survey(
          {codes.data(), kPixels, channels, 0, limit, row, levels.data(), nullptr, sums.data()});
      for (std::size_t p = 0; p < kPixels; ++p) {
        const auto* pixel = codes.data() + p * static_cast<std::size_t>(channels);
        const int largest = *std::max_element(pixel, pixel + channels);
        const int row_codes = (row * channels + 3) / 4 * 2;
        // Codes in a lane; chains of a row are looked at only where those of 4 steps fit.
        const int chain[] = {std::max(row_codes, 8), 8, 4, 2};
        int expected = 0;
        while (expected < kWideLevel && chain[expected] * largest > limit) ++expected;
        EXPECT_EQ(levels[p], expected) << channels << " " << row << " " << largest;
        ++found[expected];
        EXPECT_EQ(sums[p], std::accumulate(pixel, pixel + channels, 0));
      }
    }
  }
  for (const int count : found) EXPECT_GT(count, 0);
}

// The steps before the first lane that has too much of either sign.
int expected_chain(std::span<const std::int8_t> panel, int limit) {
  const int steps = static_cast<int>(panel.size()) / kStepBytes;
  int sums[2][2 * kPanel] = {};
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < kStepBytes; ++i) {
      const int w = panel[std::size_t(s * kStepBytes + i)];
      int& sum = sums[w < 0 ? 1 : 0][i / 2];
      sum += std::abs(w);
      if (sum > limit) return s;
    }
  }
  return steps;
}

TEST(Survey, ChainsOfWeightsEndInTime) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has no AVX2";
  constexpr int kSteps = 50;
  for (int bits = 2; bits <= 8; ++bits) {
    for (const unsigned sign : {0U, 1U, 2U}) {  // both, positive, negative
      std::vector<std::int8_t> panel(kSteps * kStepBytes);
      for (std::size_t i = 0; i < panel.size(); ++i) {
        const auto w = static_cast<int>(RandomKey(bits).below(i, 1U << bits)) - (1 << (bits - 1));
        const int positive = std::min(std::abs(w), 127);
        panel[i] = static_cast<std::int8_t>(sign == 0 ? w : sign == 1 ? positive : -std::abs(w));
      }
      for (const int limit : {signed_limit(2), signed_limit(5), signed_limit(8), 40}) {
        EXPECT_EQ(avx2_microkernels().chain_steps(panel.data(), kSteps, limit),
                  expected_chain(panel, limit))
            << bits << " bits, sign " << sign << ", limit " << limit;
      }
    }
  }
}

constexpr int kQuartetBytes = kQuartetSteps * kStepBytes;

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

QuartetLevel expected_quartet_level(std::span<const std::uint8_t> quartet, int zero, int limit) {
  if (!has_byte_differences(quartet, zero)) return QuartetLevel::wide;
  const int level = expected_level(kQuartetSteps, limit, [&](int first, int chain) {
    return panel_sum(quartet, zero, first, chain);
  });
  return static_cast<QuartetLevel>(level - 1);
}

// Runs are as long as their sums stay within the limit and no longer.
void check_quartets(int zero, int limit, std::array<int, kQuartetLevels>& found) {
  constexpr int kQuartets = 501;
  std::vector<std::uint8_t> panel = growing_codes(kQuartets, kQuartetBytes, zero);
  const std::vector<std::uint8_t> codes = panel;
  for (std::uint8_t& code : panel) code = static_cast<std::uint8_t>(code - zero);
  std::vector<QuartetLevel> levels(kQuartets);
  std::vector<int> chains(kQuartets);
  avx2_microkernels().survey_quartets(
      {panel.data(), kQuartets, zero, limit, levels.data(), chains.data()});
  const auto quartets = [&](int first, int count) {
    return std::span(codes).subspan(std::size_t(first) * kQuartetBytes,
                                    std::size_t(count) * kQuartetBytes);
  };
  for (int u = 0; u < kQuartets; ++u) {
    ASSERT_EQ(levels[std::size_t(u)], expected_quartet_level(quartets(u, 1), zero, limit)) << u;
    ++found[std::size_t(levels[std::size_t(u)])];
  }
  for (int u = 0; u < kQuartets;) {
    const int run = chains[std::size_t(u)];
    const auto sum = [&](int count) {
      return panel_sum(quartets(u, count), zero, 0, count * kQuartetSteps);
    };
    const bool chain = levels[std::size_t(u)] == QuartetLevel::chain;
    ASSERT_TRUE(chain ? sum(run) <= limit : run == 1) << u;
    const bool ends_early =
        chain && u + run < kQuartets && levels[std::size_t(u + run)] == QuartetLevel::chain;
    ASSERT_TRUE(!ends_early || sum(run + 1) > limit) << u;
    u += run;
  }
}

TEST(Survey, QuartetsFindTheLongestChains) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has no AVX2";
  std::array<int, kQuartetLevels> found{};
  for (const int zero : {90, 127, 160}) {
    for (const int bits : {3, 5, 8}) check_quartets(zero, signed_limit(bits), found);
  }
  for (const int count : found) EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace bitcycle::integer
