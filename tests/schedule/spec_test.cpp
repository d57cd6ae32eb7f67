#include "bitcycle/schedule/spec.h"

#include "bitcycle/base/error.h"

#include "schedule/sequence.h"

#include <cmath>

#include <gmock/gmock.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;

Error error_of(const ScheduleSpec& spec, Step total = 100) {
  try {
    make_schedule(spec, total);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error for " << spec.name;
  return Error(ErrorCode::usage, "");
}

std::string sequence(const ScheduleSpec& spec, Step total) {
  return widths(make_schedule(spec, total), total);
}

TEST(SpecTest, ListsEveryNameWithALine) {
  const std::vector<std::string> names = schedule_names();
  EXPECT_EQ(names, (std::vector<std::string>{"static", "CR", "CT", "LR", "LT", "ER", "ETV", "ETH",
                                             "RR", "RTV", "RTH", "cosine", "triangular", "anneal",
                                             "progressive"}));
  for (const std::string& name : names) EXPECT_FALSE(describe_schedule(name).empty()) << name;
  EXPECT_EQ(describe_schedule("XX"), "");
}

TEST(SpecTest, WhateverMovesNeedsARange) {
  for (const std::string& name : schedule_names()) {
    if (name == "static") continue;
    for (const std::string& text : {name, name + " 8", name + " x4", "4 until 0.5, " + name}) {
      const Error error = error_of({.name = text});
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("schedule " + name + ": expected a range of bits"));
      EXPECT_THAT(error.hint(), HasSubstr("\"" + name + " 3:8\""));
      EXPECT_THAT(error.hint(), HasSubstr("{ schedule = \"" + name + "\", min = 3, max = 8 }"));
    }
    EXPECT_THAT(error_of({.name = name, .max = 6}).what(), HasSubstr("expected a range"));
  }
  EXPECT_THAT(error_of({.name = "8 until 0.5, LR 8", .min = 4}).what(), HasSubstr("a range"));
}

TEST(SpecTest, StaticNeedsNoRange) {
  EXPECT_EQ(sequence({.name = "static"}, 2), "8 8");
  EXPECT_EQ(sequence({.name = "static", .max = 6}, 2), "6 6");
  EXPECT_EQ(sequence({.name = "static 5"}, 2), "5 5");
}

TEST(SpecTest, TheDefaultIsStaticEight) {
  EXPECT_EQ(sequence({}, 3), "8 8 8");
}

TEST(SpecTest, UnknownNamesSuggestTheNearest) {
  const Error error = error_of({.name = "progresive"});
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_STREQ(error.what(), "unknown schedule \"progresive\"");
  EXPECT_EQ(error.hint(), "Did you mean \"progressive\"?");
  EXPECT_EQ(error_of({.name = "cr"}).hint(), "Did you mean \"CR\"?");
}

TEST(SpecTest, WidthsAreOneToThirtyTwoAndFloatIsStaticAlone) {
  EXPECT_EQ(sequence({.name = "CR", .min = 2, .max = 32, .cycles = 1}, 2), "2 17");
  EXPECT_EQ(sequence({.name = "static", .min = 1, .max = 1}, 2), "1 1");
  EXPECT_EQ(sequence({.name = "static", .min = 0, .max = 0}, 2), "0 0");
  EXPECT_THAT(error_of({.name = "CR", .min = -1}).what(),
              HasSubstr("min must be 1 to 32 bits, found -1"));
  EXPECT_THAT(error_of({.name = "CR", .min = 3, .max = 33}).what(),
              HasSubstr("max must be 1 to 32 bits, found 33"));
  EXPECT_THAT(error_of({.name = "static", .min = -1, .max = -1}).what(), HasSubstr("found -1"));
  EXPECT_THAT(error_of({.name = "CR", .min = 0}).hint(), HasSubstr("static"));
}

TEST(SpecTest, BoundsMustBeInOrder) {
  for (const char* name : {"CR", "anneal", "progressive"}) {
    EXPECT_THAT(error_of({.name = name, .min = 8, .max = 3}).what(), HasSubstr("found 8 and 3"));
  }
  EXPECT_THAT(error_of({.name = "static", .min = 3}).what(), HasSubstr("one width"));
}

TEST(SpecTest, EqualBoundsAreStaticForEveryName) {
  for (const std::string& name : schedule_names()) {
    EXPECT_EQ(sequence({.name = name, .min = 6, .max = 6, .cycles = 2}, 5), "6 6 6 6 6") << name;
  }
}

TEST(SpecTest, NumbersOutOfRangeAreNamed) {
  EXPECT_THAT(error_of({.name = "CR", .min = 3, .cycles = 0}).what(), HasSubstr("cycles"));
  EXPECT_THAT(error_of({.name = "RR", .min = 3, .beta = 1}).what(), HasSubstr("beta"));
  EXPECT_THAT(error_of({.name = "ER", .min = 3, .rate = 0}).what(), HasSubstr("rate"));
  EXPECT_THAT(error_of({.name = "CR", .min = 3, .start = -0.1}).what(), HasSubstr("start"));
  EXPECT_THAT(error_of({.name = "CR", .min = 3, .start = NAN}).what(), HasSubstr("start"));
  EXPECT_THAT(error_of({.name = "CR", .min = 3, .end = 1.1}).what(), HasSubstr("end"));
  EXPECT_THAT(error_of({.name = "CR", .min = 3, .start = 0.6, .end = 0.5}).what(),
              HasSubstr("0.6 and 0.5"));
  EXPECT_THAT(error_of({.name = "CR"}, -1).what(), HasSubstr("steps"));
  EXPECT_THAT(
      error_of({.name = "CR", .min = 3, .cycles = 101, .cycle_length = CycleLength::floor}).what(),
      HasSubstr("do not fit into 100 steps"));
}

TEST(SpecTest, StartHoldsMinAndEndHoldsMax) {
  const ScheduleSpec spec{.name = "LR", .min = 2, .max = 10, .cycles = 2};
  EXPECT_EQ(sequence(spec, 16), "2 3 4 5 6 7 8 9 2 3 4 5 6 7 8 9");
  ScheduleSpec late = spec;
  late.start = 0.25;
  EXPECT_EQ(sequence(late, 16), "2 2 2 2 6 7 8 9 2 3 4 5 6 7 8 9");
  late.end = 0.75;
  EXPECT_EQ(sequence(late, 16), "2 2 2 2 6 7 8 9 2 3 4 5 10 10 10 10");
  late.start = late.end = 1;
  EXPECT_EQ(sequence(late, 16), "2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2");
  late.start = late.end = 0;
  EXPECT_EQ(sequence(late, 4), "10 10 10 10");
}

TEST(SpecTest, ProgressiveRisesBetweenStartAndEnd) {
  const ScheduleSpec spec{.name = "progressive", .min = 3, .max = 5, .start = 0.25, .end = 0.75};
  EXPECT_EQ(sequence(spec, 12), "3 3 3 3 3 4 4 5 5 5 5 5");
}

TEST(SpecTest, PastTheRunTheLastValueStays) {
  for (const char* name : {"CR", "RTH", "progressive", "3:8 until 0.5, LR 4:6 x2"}) {
    const Schedule schedule = make_schedule({.name = name, .min = 3, .cycles = 4}, 100);
    EXPECT_EQ(schedule.bits(100), schedule.bits(99)) << name;
    EXPECT_EQ(schedule.bits(12345), schedule.bits(99)) << name;
  }
}

TEST(SpecTest, NoStepsAreReadAsTheFirst) {
  for (const std::string& name : schedule_names()) {
    if (name == "static") continue;
    const int first = make_schedule({.name = name, .min = 3}, 0).bits(0);
    EXPECT_TRUE(first == 3 || first == 8) << name;
  }
}

TEST(ExpressionTest, StatesTheNumbersWithTheName) {
  EXPECT_EQ(sequence({.name = "LR 4:12 x2"}, 16), "4 5 6 7 8 9 10 11 4 5 6 7 8 9 10 11");
  EXPECT_EQ(sequence({.name = "6"}, 2), "6 6");
  EXPECT_EQ(sequence({.name = "static fp"}, 2), "0 0");
  EXPECT_EQ(sequence({.name = "3:8 x1"}, 8), sequence({.name = "CR", .min = 3, .cycles = 1}, 8));
}

TEST(ExpressionTest, JoinsPartsThatCountTheirOwnSteps) {
  EXPECT_EQ(sequence({.name = "static 4 until 0.5, LR 4:8 x1"}, 8), "4 4 4 4 4 5 6 7");
  EXPECT_EQ(sequence({.name = "4 until 0.25, 6 until 0.5,fp"}, 8), "4 4 6 6 0 0 0 0");
  EXPECT_EQ(sequence({.name = "3 until 0.1, 8"}, 3), "8 8 8");  // a part shorter than half a step
}

TEST(ExpressionTest, WhatItDoesNotStateComesFromTheOtherFields) {
  const ScheduleSpec spec{.name = "8 until 0.5, LR", .min = 4, .max = 8, .cycles = 2};
  EXPECT_EQ(sequence(spec, 16), "8 8 8 8 8 8 8 8 4 5 6 7 4 5 6 7");
}

TEST(ExpressionTest, MistakesAreQuoted) {
  EXPECT_THAT(error_of({.name = "CR 3:x"}).what(), HasSubstr("cannot read \"3:x\""));
  EXPECT_THAT(error_of({.name = "CR 3-8-9"}).what(), HasSubstr("cannot read \"3-8-9\""));
  EXPECT_THAT(error_of({.name = "CR x"}).what(), HasSubstr("cannot read \"x\""));
  EXPECT_THAT(error_of({.name = "CR 99999999999"}).what(), HasSubstr("cannot read"));
  EXPECT_THAT(error_of({.name = ""}).what(), HasSubstr("expected a schedule"));
  EXPECT_THAT(error_of({.name = "4 until 0.5,"}).what(), HasSubstr("expected a schedule"));
  EXPECT_THAT(error_of({.name = "4 until"}).what(), HasSubstr("after \"until\""));
  EXPECT_THAT(error_of({.name = "4 until nan, 8"}).what(), HasSubstr("until"));
  EXPECT_THAT(error_of({.name = "4, 8"}).what(), HasSubstr("needs \"until\""));
  EXPECT_THAT(error_of({.name = "4 until 0.5"}).what(), HasSubstr("needs \"until\""));
  EXPECT_THAT(error_of({.name = "4 until 0.5, 6 until 0.4, 8"}).what(), HasSubstr("above"));
  EXPECT_THAT(error_of({.name = "4 until 0.5, 8", .start = 0.1}).what(), HasSubstr("start"));
  EXPECT_THAT(error_of({.name = "4 until 0.5, CRR 3:8"}).hint(), HasSubstr("\"CR\""));
  EXPECT_THAT(error_of({.name = "static 3:8"}).what(), HasSubstr("one width"));
}

TEST(EpochScheduleTest, IsBuiltOverTheEpochsOfTheRun) {
  const ScheduleSpec spec{.name = "LR", .min = 4, .max = 8, .cycles = 1};
  EXPECT_EQ(widths(make_epoch_schedule(spec, 12, 3), 12), "4 4 4 5 5 5 6 6 6 7 7 7");
  // The tenth step begins a fourth epoch.
  EXPECT_EQ(widths(make_epoch_schedule(spec, 10, 3), 10), "4 4 4 5 5 5 6 6 6 7");
  EXPECT_THROW(make_epoch_schedule(spec, 10, 0), Error);
}

TEST(MaxBitsTest, IsTheHighestOverAllParts) {
  EXPECT_EQ(max_bits({.name = "CR", .min = 3, .max = 6}), 6);
  EXPECT_EQ(max_bits({.name = "CR 3:7 until 0.5, 4"}), 7);
  EXPECT_EQ(max_bits({.name = "4 until 0.5, fp"}), 0);
}

// What tables print can be pasted.
TEST(ScheduleExpressionTest, ADashIsAColon) {
  EXPECT_EQ(widths(make_schedule({.name = "CR 3-8 x2"}, 12), 12),
            widths(make_schedule({.name = "CR 3:8 x2"}, 12), 12));
  EXPECT_EQ(max_bits({.name = "3-7"}), 7);
}

TEST(IsFloatTest, AsksAllParts) {
  EXPECT_TRUE(is_float({.min = 0, .max = 0}));
  EXPECT_TRUE(is_float({.name = "fp"}));
  EXPECT_FALSE(is_float({.name = "4 until 0.5, fp"}));
  EXPECT_FALSE(is_float({.name = "CR", .min = 3, .max = 6}));
}

TEST(WidthBoundsTest, CoverAllQuantizedPartsAndTellFloatApart) {
  const WidthBounds mixed = width_bounds({.name = "CR 3:7 until 0.3, 2 until 0.5, fp"});
  EXPECT_EQ(mixed.min, 2);
  EXPECT_EQ(mixed.max, 7);
  EXPECT_TRUE(mixed.has_float);
  EXPECT_FALSE(width_bounds({.name = "CR", .min = 3, .max = 6}).has_float);
  EXPECT_EQ(width_bounds({.name = "fp"}).max, 0);
}

}  // namespace
}  // namespace bitcycle
