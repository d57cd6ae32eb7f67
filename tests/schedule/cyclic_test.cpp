#include "bitcycle/schedule/cyclic.h"

#include "bitcycle/base/error.h"

#include "schedule/sequence.h"

#include <limits>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

Schedule linear(Cycles kind, const CyclicOptions& options) {
  return cyclic(linear_profile(), kind, options);
}

TEST(PhaseTest, ExactCutsAnyRunIntoWholeCycles) {
  for (const Step total : {10, 64, 100, 450450}) {
    for (const int cycles : {1, 3, 8, 7}) {
      const CyclicOptions options{.cycles = cycles, .steps = total};
      EXPECT_EQ(phase_at(0, options).cycle, 0);
      const Phase last = phase_at(total - 1, options);
      EXPECT_EQ(last.cycle, cycles - 1);
      EXPECT_EQ(last.position, total - cycles);  // one step before the next cycle
    }
  }
}

TEST(PhaseTest, ExactEqualsFloorWhenCyclesDivideTheRun) {
  const CyclicOptions exact{.cycles = 8, .steps = 800};
  CyclicOptions floor = exact;
  floor.cycle_length = CycleLength::floor;
  for (Step t = 0; t < 800; ++t) {
    const Phase a = phase_at(t, exact), b = phase_at(t, floor);
    ASSERT_EQ(a.cycle, b.cycle);
    ASSERT_EQ(a.position * b.length, b.position * a.length);
  }
}

TEST(PhaseTest, FloorOpensAnExtraCycleWithWhatIsLeftOver) {
  // ImageNet in 90 epochs: 8 cycles of 56306 steps leave 2.
  const CyclicOptions options{.cycles = 8, .steps = 450450, .cycle_length = CycleLength::floor};
  EXPECT_EQ(phase_at(450447, options).cycle, 7);
  EXPECT_EQ(phase_at(450448, options).cycle, 8);
  EXPECT_EQ(phase_at(450448, options).position, 0);
  EXPECT_EQ(linear(Cycles::repeated, options).bits(450449), 3);
  EXPECT_EQ(linear(Cycles::triangular_value, options).bits(450449), 8);
}

TEST(PhaseTest, FloorPlusOneCutsTheLastCycleShort) {
  const CyclicOptions options{
      .cycles = 8, .steps = 64, .cycle_length = CycleLength::floor_plus_one};
  EXPECT_EQ(phase_at(62, options).cycle, 6);
  EXPECT_EQ(phase_at(63, options).cycle, 7);
  EXPECT_EQ(linear(Cycles::repeated, options).bits(63), 3);
}

TEST(PhaseTest, LargeRunsDoNotOverflow) {
  const Step total = Step{1} << 60;
  const Phase last = phase_at(total - 1, {.cycles = 1 << 20, .steps = total});
  EXPECT_EQ(last.cycle, (1 << 20) - 1);
}

TEST(CycleLengthTest, NamesReadBack) {
  for (CycleLength rule : {CycleLength::exact, CycleLength::floor, CycleLength::floor_plus_one}) {
    EXPECT_EQ(parse_cycle_length(name(rule)), rule);
  }
  try {
    parse_cycle_length("flor");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(error.hint(), "Did you mean \"floor\"?");
  }
}

TEST(CyclicTest, TriangularStartsHighAndEndsHighWhenCyclesAreEven) {
  const auto last = [](int cycles) {
    return linear(Cycles::triangular_value, {.cycles = cycles, .steps = 400}).bits(399);
  };
  EXPECT_EQ(linear(Cycles::triangular_value, {.cycles = 4, .steps = 400}).bits(0), 8);
  EXPECT_EQ(last(4), 8);
  EXPECT_EQ(last(3), 3);
  EXPECT_EQ(last(1), 3);
}

TEST(CyclicTest, BothReflectionsOfASymmetricProfileAgree) {
  const CyclicOptions options{.cycles = 4, .steps = 64};
  const Schedule value = linear(Cycles::triangular_value, options);
  const Schedule time = linear(Cycles::triangular_time, options);
  for (Step t = 0; t < 64; ++t) EXPECT_DOUBLE_EQ(value.value(t), time.value(t));
}

TEST(CyclicTest, StepsOutsideTheRunAreTheNearestInside) {
  const Schedule schedule = linear(Cycles::repeated, {.cycles = 2, .steps = 40});
  EXPECT_EQ(schedule.value(-5), schedule.value(0));
  EXPECT_EQ(schedule.value(40), schedule.value(39));
  EXPECT_EQ(schedule.value(1000), schedule.value(39));
}

TEST(CyclicTest, ARunOfNoneOrOneStepIsTheBeginningOfACycle) {
  for (const Step total : {0, 1}) {
    EXPECT_EQ(linear(Cycles::repeated, {.cycles = 8, .steps = total}).bits(0), 3);
    EXPECT_EQ(linear(Cycles::triangular_value, {.cycles = 8, .steps = total}).bits(0), 8);
  }
}

TEST(CyclicTest, MoreCyclesThanStepsSkipCycles) {
  // n t / T = 0, 8/3, 16/3: phases 0, 2/3 and 1/3 of cycles 0, 2 and 5.
  const Schedule exact = linear(Cycles::repeated, {.cycles = 8, .steps = 3});
  EXPECT_EQ(widths(exact, 3), "3 6 5");
  const Schedule plus_one = linear(
      Cycles::repeated, {.cycles = 8, .steps = 3, .cycle_length = CycleLength::floor_plus_one});
  EXPECT_EQ(widths(plus_one, 3), "3 3 3");
  EXPECT_THROW(
      linear(Cycles::repeated, {.cycles = 8, .steps = 3, .cycle_length = CycleLength::floor}),
      Error);
}

TEST(CyclicTest, EqualBoundsAreStatic) {
  for (const auto& profile : {cosine_profile(), linear_profile(), exponential_profile(),
                              rex_profile(), cpt_cosine_profile(), tent_profile()}) {
    const Schedule schedule =
        cyclic(profile, Cycles::triangular_time, {.min = 6, .max = 6, .cycles = 3, .steps = 50});
    for (Step t = 0; t < 50; ++t) ASSERT_EQ(schedule.value(t), 6);
  }
}

TEST(CyclicTest, RefusesWhatMakesNoSense) {
  EXPECT_THROW(linear(Cycles::repeated, {.min = 8, .max = 3, .steps = 10}), Error);
  EXPECT_THROW(linear(Cycles::repeated, {.cycles = 0, .steps = 10}), Error);
  EXPECT_THROW(linear(Cycles::repeated, {.steps = -1}), Error);
}

TEST(ProfileTest, RefusesParametersOutOfRange) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_NO_THROW(rex_profile(0));
  for (double beta : {-0.1, 1.0, kNan}) EXPECT_THROW(rex_profile(beta), Error);
  for (double rate : {0.0, -4.0, kInfinity, kNan}) EXPECT_THROW(exponential_profile(rate), Error);
}

TEST(ProfileTest, TheExponentialNeverQuiteArrives) {
  EXPECT_NEAR(between(exponential_profile(), 0, 1, {0, 999999, 1000000}), 0.98168, 1e-5);
}

}  // namespace
}  // namespace bitcycle
