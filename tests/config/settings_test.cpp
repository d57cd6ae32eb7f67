// `--set key=value` over the file.

#include "config/recipe_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SettingsTest, LieOverTheFile) {
  const Recipe recipe = parsed(
      "steps = 10\n[data]\nbatch_size = 9\n[precision]\nforward = { schedule = \"CR\", min = 3 }",
      {"data.batch_size=64", "optimizer.lr = 0.5", "model.name=cifar_resnet8", "data.root=/a b/c",
       "precision.forward.max=6", "precision.backward=6", "lr_schedule.at=[0.5]"});
  EXPECT_EQ(recipe.data.batch_size, 64);
  EXPECT_EQ(recipe.optimizer.lr, 0.5);
  EXPECT_EQ(recipe.model.name, "cifar_resnet8");
  EXPECT_EQ(recipe.data.root, "/a b/c");
  EXPECT_EQ(recipe.precision.forward.name, "CR");
  EXPECT_EQ(recipe.precision.forward.min, 3);
  EXPECT_EQ(recipe.precision.forward.max, 6);
  EXPECT_EQ(recipe.precision.backward.max, 6);
  EXPECT_THAT(recipe.lr_schedule.at, ElementsAre(0.5));
}

TEST(SettingsTest, TheLastOfSeveralCounts) {
  EXPECT_EQ(parsed("steps = 1", {"seed=2", "seed=3"}).seed, 3U);
}

TEST(SettingsTest, ATableInBracesReplacesTheFiles) {
  const ScheduleSpec forward =
      parsed("steps = 9\n[precision.forward]\nschedule = \"CR\"\nmin = 3\ncycles = 2",
             {"precision.forward={schedule=\"LR\", min=4}"})
          .precision.forward;
  EXPECT_EQ(forward.min, 4);
  EXPECT_EQ(forward.cycles, ScheduleSpec().cycles);
}

TEST(SettingsTest, ALengthReplacesTheOtherKindOfLength) {
  const Recipe recipe = parsed("steps = 10", {"epochs=2"});
  EXPECT_EQ(recipe.steps, 0);
  EXPECT_EQ(recipe.epochs, 2);
}

TEST(SettingsTest, AnotherChoiceSilencesWhatTheFileSaidOfTheFirst) {
  const Recipe recipe = parsed("steps = 1\n[optimizer]\nname = \"sgd\"\nmomentum = 0.5",
                               {"optimizer.name=adam", "optimizer.beta1=0.5"});
  EXPECT_EQ(recipe.optimizer.name, OptimizerRecipe::Name::adam);
}

TEST(SettingsTest, MistakesNameTheSetting) {
  const auto of = [](const std::string& setting) { return complaint("steps = 1", {setting}); };
  EXPECT_THAT(of("seed"), HasSubstr("--set seed: expected key=value"));
  EXPECT_THAT(of("sed=1"), HasSubstr("--set sed=1: unknown key sed | Did you mean \"seed\"?"));
  EXPECT_THAT(of("seed=one"), HasSubstr("--set seed=one: seed: expected a whole number"));
  EXPECT_THAT(of("data.batch_size=0"), HasSubstr("--set data.batch_size=0: data.batch_size: "));
  EXPECT_THAT(of("model=3"), HasSubstr("--set model=3: model: expected a table, found 3"));
  EXPECT_THAT(of("lr_schedule.at=[0.5,"), HasSubstr("--set lr_schedule.at=[0.5,: "));
  EXPECT_THAT(of("a b=1"), HasSubstr("--set a b=1: "));
  EXPECT_THAT(of("=1"), HasSubstr("--set =1: "));
  EXPECT_THAT(of("epochs=1"), HasSubstr("accepted"));
  EXPECT_THAT(complaint("", {"steps=1", "epochs=1"}), HasSubstr("--set epochs=1: expected one of"));
}

}  // namespace
}  // namespace bitcycle
