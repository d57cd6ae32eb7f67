// The ten schedules at every step of the reference cases: widths as digits that make_golden.py
// wrote from the published formulas, values against the same schedules in their textbook form s(u).

#include "bitcycle/schedule/spec.h"

#include <cmath>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

struct GoldenCase {
  Step total;
  int cycles, min, max;
  std::string name;
  std::string digits;  // of two cycles
};

const GoldenCase kCases[] = {
#include "schedule/golden_bits.inc"
};

double rise(char profile, double u) {
  switch (profile) {
    case 'C':
      return (1 - std::cos(std::numbers::pi * u)) / 2;
    case 'L':
      return u;
    case 'E':
      return 1 - std::exp(-4 * u);
    default:
      return 1 - (1 - u) / (0.1 + 0.9 * (1 - u));
  }
}

double textbook(const GoldenCase& c, Step t) {
  const Step period = c.total / c.cycles;
  const double u = static_cast<double>(t % period) / static_cast<double>(period);
  const bool falls = c.name[1] == 'T' && (t / period) % 2 == 0;
  const bool in_time = c.name.back() == 'H';
  const double s = !falls    ? rise(c.name[0], u)
                   : in_time ? rise(c.name[0], 1 - u)
                             : 1 - rise(c.name[0], u);
  return c.min + (c.max - c.min) * s;
}

// Every rule gives the same cycles when n divides T, floor_plus_one aside.
class GoldenTest : public testing::TestWithParam<CycleLength> {};

TEST_P(GoldenTest, WidthsAndValuesMatchAtEveryStep) {
  Step rows = 0;
  for (const GoldenCase& c : kCases) {
    SCOPED_TRACE(c.name);
    const Schedule schedule = make_schedule({.name = c.name,
                                             .min = c.min,
                                             .max = c.max,
                                             .cycles = c.cycles,
                                             .cycle_length = GetParam()},
                                            c.total);
    for (Step t = 0; t < c.total; ++t, ++rows) {
      const auto digit = static_cast<std::size_t>(t) % c.digits.size();
      ASSERT_EQ(schedule.bits(t), c.digits[digit] - '0') << "t = " << t;
      ASSERT_NEAR(schedule.value(t), textbook(c, t), 1e-12) << "t = " << t;
    }
  }
  EXPECT_EQ(rows, 16640);
}

INSTANTIATE_TEST_SUITE_P(Rules, GoldenTest, testing::Values(CycleLength::exact, CycleLength::floor),
                         [](const auto& rule) { return std::string(name(rule.param)); });

}  // namespace
}  // namespace bitcycle
