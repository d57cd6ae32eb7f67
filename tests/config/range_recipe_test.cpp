// precision.forward = "auto" and [precision.range_test] as a recipe has them.

#include "bitcycle/config/notices.h"
#include "bitcycle/config/range_plans.h"

#include "config/recipe_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kAuto = "steps = 64000\n[precision]\nforward = \"auto\"\n";

TEST(RangeRecipeTest, AutoIsATestAsUsualUnlessItsTableSaysOtherwise) {
  const Recipe recipe = parsed(kAuto);
  EXPECT_TRUE(is_automatic(recipe.precision));
  ASSERT_TRUE(recipe.precision.range_test);
  EXPECT_EQ(recipe.precision.range_test->from, 2);
  const Recipe other = parsed(kAuto + "[precision.range_test]\nfrom = 3\nto = 6\nupper = 0.95\n");
  EXPECT_EQ(other.precision.range_test->to, 6);
  EXPECT_EQ(other.precision.range_test->upper, 0.95);
  EXPECT_EQ(parsed(kAuto, {"precision.range_test.cycles=8"}).precision.range_test->cycles, 8);
}

TEST(RangeRecipeTest, WhatIsWrittenReadsBack) {
  const Recipe recipe = parsed(kAuto, {"precision.range_test.upper=0.9"});
  const std::string text = to_toml(recipe);
  EXPECT_THAT(text, HasSubstr("forward = \"auto\"\n"));
  EXPECT_EQ(to_toml(parsed(text)), text);
  EXPECT_THAT(differences(recipe, parsed(text)), IsEmpty());
  EXPECT_THAT(differences(recipe, parsed(kAuto)), ElementsAre(HasSubstr("precision.range_test")));
}

TEST(RangeRecipeTest, RunsWithoutOneKeepTheirIdentity) {
  EXPECT_THAT(result_toml(parsed("steps = 5")), testing::Not(HasSubstr("range_test")));
}

TEST(RangeRecipeTest, MistakesAreToldAtTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"[precision.range_test]\nfrom = 8\n",
       "r.toml:5:8: precision.range_test.from: expected less than the 8 bits of to, found 8"},
      {"[precision.range_test]\nfrom = 6\nto = 4\n",
       "expected less than the 4 bits of to, found 6"},
      {"[precision.range_test]\nfrom = 0\n", "expected a whole number from 1 to 32, found 0"},
      {"[precision.range_test]\nto = 33\n", "expected a whole number from 2 to 32, found 33"},
      {"[precision.range_test]\nschedule = \"static\"\n",
       "r.toml:5:12: precision.range_test.schedule: expected the name of a cyclic schedule, found "
       "\"static\""},
      {"[precision.range_test]\nschedule = \"CRR\"\n", "Did you mean \"CR\"?"},
      {"[precision.range_test]\nupper = 0.7\n",
       "expected at least the threshold of the lower bound, 0.87, found 0.7"},
      {"[precision.range_test]\nconfidence = 0.5\n", "expected a number from 0.6 to 0.9999"},
      {"[precision.range_test]\npairs = 3\n", "expected a whole number from 4 to 10000, found 3"},
      {"[precision.range_test]\ntreshold = 0.7\n", "unknown key precision.range_test.treshold"},
      {"weight = 4\nactivation = 4\n", "\"auto\" finds bits that nothing takes"},
      {"[precision.range_test]\ncycles = 640\n",
       "r.toml:5:10: precision.range_test: expected a first cycle of at least 180 steps, which the "
       "shortest test takes, found 100: 64000 steps in 640 cycles"}};
  for (const auto& [text, expected] : mistakes) {
    EXPECT_THAT(complaint(kAuto + text), HasSubstr(expected)) << text;
  }
}

TEST(RangeRecipeTest, ItIsForTheForwardBitsOfASchedule) {
  EXPECT_THAT(complaint("steps = 64000\n[precision]\nbackward = \"auto\"\n"),
              HasSubstr("unknown schedule \"auto\""));
  EXPECT_THAT(complaint("steps = 64000\n[precision]\nforward = { schedule = \"auto\" }\n"),
              HasSubstr("unknown schedule \"auto\""));
  EXPECT_THAT(complaint("steps = 64000\n[precision.range_test]\nfrom = 3\n"),
              HasSubstr("precision.range_test applies only when precision.forward is \"auto\""));
  EXPECT_THAT(complaint(kAuto + "[precision.progressive]\nforward = [3, 8]\nbackward = [8, 8]\n"),
              HasSubstr("precision.forward applies only when precision.progressive is left out"));
}

TEST(RangeRecipeTest, SchemesWithoutOneBitWantTwo) {
  EXPECT_THAT(complaint(kAuto + "scheme = \"wageubn-lite\"\n[precision.range_test]\nfrom = 1\n"),
              HasSubstr("expects at least 2 bits"));
}

TEST(RangeRecipeTest, ShortRunsAreToldWhatTheTestWeighs) {
  const Recipe recipe = parsed("epochs = 1\n[precision]\nforward = \"auto\"\n");
  EXPECT_THAT(notices(recipe, {64'000, 390}), IsEmpty());
  EXPECT_THAT(notices(recipe, {3200, 390}),
              ElementsAre(AllOf(HasSubstr("the first cycle has 100 steps"),
                                HasSubstr("it will end undecided, at 8 bits"))));
  const Recipe fewer = parsed(to_toml(recipe), {"precision.range_test.cycles=4"});
  EXPECT_THAT(notices(fewer, {3200, 390}),
              ElementsAre(HasSubstr("takes 180 to 800 of the run's 3200 steps, 5.6 to 25.0 %")));
}

}  // namespace
}  // namespace bitcycle
