// [precision.progressive] as a recipe has it.

#include "bitcycle/config/notices.h"

#include "config/recipe_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kStages =
    "epochs = 20\n[precision.progressive]\nforward = [3, 4, 6, 8]\nbackward = [6, 6, 8, 8]\n";

TEST(RecipeTest, StagesHaveThePapersThresholdsUnlessTheyHaveTheirOwn) {
  const Recipe recipe = parsed(std::string(kStages) + "period = 400\nloss = \"perplexity\"");
  const ProgressiveRecipe& stages = recipe.precision.progressive.value();
  EXPECT_THAT(stages.forward, ElementsAre(3, 4, 6, 8));
  EXPECT_THAT(stages.backward, ElementsAre(6, 6, 8, 8));
  EXPECT_EQ(stages.epsilon, 0.05);
  EXPECT_EQ(stages.alpha, 0.3);
  EXPECT_EQ(stages.window, 5);
  EXPECT_EQ(stages.normalising, 10);
  EXPECT_THAT(stages.deadlines, IsEmpty());
  EXPECT_EQ(stages.period, 400);
  EXPECT_EQ(stages.loss, IndicatorRecipe::Loss::perplexity);
  EXPECT_EQ(parsed(kStages, {"precision.progressive.epsilon=0.2"}).precision.progressive->epsilon,
            0.2);
}

TEST(RecipeTest, StagesAreEvaluatedAtTheirOwnBitsUnlessToldOtherwise) {
  EXPECT_EQ(parsed("steps = 1").evaluation.bits, "max");
  EXPECT_EQ(parsed(kStages).evaluation.bits, "current");
  EXPECT_EQ(parsed(kStages, {"evaluation.bits=max"}).evaluation.bits, "max");
}

TEST(SettingsTest, StagesTakeThePlaceOfTheFilesSchedules) {
  const Recipe recipe = parsed("steps = 9\n[precision]\nforward = 8",
                               {"precision.progressive={forward=[3,8], backward=[8,8]}"});
  EXPECT_THAT(recipe.precision.progressive->forward, ElementsAre(3, 8));
}

TEST(NoticesTest, StagesThatCannotBeReachedAreTold) {
  const auto of = [](const std::string& more, const RunLength& length) {
    return notices(parsed(kStages + more), length);
  };
  EXPECT_THAT(of("", {160, 10}), IsEmpty());
  EXPECT_THAT(of("", {151, 10}), IsEmpty());
  EXPECT_THAT(of("", {150, 10}),
              ElementsAre(HasSubstr("the last of 4 stages cannot be reached: that takes 15 periods "
                                    "of 10 steps or more, and the run has 150 steps")));
  EXPECT_THAT(of("period = 9", {150, 10}), IsEmpty());
  EXPECT_THAT(of("turning_points = 2", {150, 10}), IsEmpty());
  EXPECT_THAT(of("deadlines = [0.2, 0.4, 0.6]", {150, 10}), IsEmpty());
}

}  // namespace
}  // namespace bitcycle
