#include "bitcycle/config/averaging.h"

#include "bitcycle/config/notices.h"

#include "config/recipe_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Step> averaged_steps(const AveragingRecipe& recipe, const RunLength& length) {
  std::vector<Step> steps;
  for (Step step = 0; step <= length.steps; ++step) {
    if (is_averaged(recipe, step, length)) steps.push_back(step);
  }
  return steps;
}

TEST(AveragingTest, TakesEverySoManyEpochsFromTheStartOnAndTheLast) {
  EXPECT_THAT(averaged_steps({0.75, 1}, {40, 5}), ElementsAre(30, 35, 40));
  EXPECT_THAT(averaged_steps({0.75, 3}, {40, 5}), ElementsAre(30, 40));
  EXPECT_THAT(averaged_steps({0.5, 1}, {11, 3}), ElementsAre(6, 9, 11));
  EXPECT_THAT(averaged_steps({1, 1}, {40, 5}), ElementsAre(40));
  // Those that a run starts from are none of its weights.
  EXPECT_THAT(averaged_steps({0, 2}, {12, 2}), ElementsAre(4, 8, 12));
}

// Of the authors: 64,000 steps, 390 to an epoch, every 1170 from three quarters on.
TEST(AveragingTest, CountsItsPoints) {
  EXPECT_EQ(averaged_points({0.75, 3}, {64000, 390}), 64000 / 1170 - 47999 / 1170 + 1);
  for (const double start : {0.0, 0.1, 0.3, 0.75, 0.99, 1.0}) {
    for (const Step total : {1, 7, 40, 41}) {
      for (const double every : {0.2, 1.0, 3.0}) {
        const AveragingRecipe recipe{start, every};
        EXPECT_EQ(averaged_points(recipe, {total, 5}),
                  std::ssize(averaged_steps(recipe, {total, 5})));
      }
    }
  }
}

TEST(AveragingTest, IsReadAndWrittenAndPartOfWhatARunIs) {
  const Recipe plain = parsed("epochs = 4\n");
  const Recipe recipe = parsed("epochs = 4\n[averaging]\nstart = 0.5\n");
  EXPECT_FALSE(plain.averaging);
  EXPECT_EQ(recipe.averaging->start, 0.5);
  EXPECT_EQ(recipe.averaging->every_epochs, 1);
  EXPECT_EQ(to_toml(parsed(to_toml(recipe))), to_toml(recipe));
  EXPECT_EQ(parsed(to_toml(recipe)).averaging->start, 0.5);
  EXPECT_NE(fingerprint(recipe), fingerprint(plain));
  EXPECT_THAT(differences(plain, recipe),
              ElementsAre("averaging: unset -> { start = 0.5, every_epochs = 1.0 }"));
  EXPECT_THAT(to_toml(plain), testing::Not(HasSubstr("averaging")));
  EXPECT_EQ(parsed("epochs = 4\n", {"averaging.every_epochs=3"}).averaging->every_epochs, 3);
}

TEST(AveragingTest, MistakesAreToldInWords) {
  const auto with = [](const std::string& keys) {
    return complaint("epochs = 4\n[averaging]\n" + keys);
  };
  EXPECT_THAT(with("start = 1.5"),
              HasSubstr("averaging.start: expected a number from 0 to 1, found 1.5"));
  EXPECT_THAT(with("every_epochs = 0"),
              HasSubstr("averaging.every_epochs: expected a number from 0.001"));
  EXPECT_THAT(with("every = 3"), HasSubstr("unknown key averaging.every"));
  EXPECT_THAT(complaint("epochs = 4\naveraging = true\n"),
              HasSubstr("averaging: expected a table"));
  EXPECT_THAT(
      with("[precision.dynamic]\noptions = \"cifar\"\nweight = 4\ntarget = 3\n"),
      HasSubstr("averaging: expected a network without gates, found [precision.dynamic] | Leave"));
}

TEST(AveragingTest, AnAverageOfTheLastWeightsAloneIsTold) {
  const Recipe recipe = parsed("epochs = 3\n[averaging]\nstart = 0.9\n");
  EXPECT_THAT(notices(recipe, {30, 10}),
              ElementsAre(HasSubstr("averaging: the last weights alone will be averaged: the run "
                                    "has 30 steps, 1 epochs are 10, and averaging starts at step "
                                    "27")));
  EXPECT_THAT(notices(recipe, {300, 10}), IsEmpty());
}

}  // namespace
}  // namespace bitcycle
