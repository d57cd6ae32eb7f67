// [precision.dynamic] as a recipe has it.

#include "bitcycle/config/notices.h"

#include "config/recipe_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kHead = "epochs = 20\n[precision.dynamic]\n";
const std::string kGates = kHead + "options = \"cifar\"\nweight = 4\ntarget = 3\n";

DynamicRecipe dynamic(const std::string& text, const std::vector<std::string>& settings = {}) {
  return parsed(text, settings).precision.dynamic.value();
}

TEST(DynamicRecipeTest, ThePapersListsAreThereByName) {
  EXPECT_THAT(dynamic(kGates).options,
              ElementsAre(PrecisionOption{3, 6}, PrecisionOption{4, 6}, PrecisionOption{4, 8},
                          PrecisionOption{6, 8}, PrecisionOption{6, 12}));
  EXPECT_THAT(dynamic(kGates, {"precision.dynamic.options=imagenet"}).options,
              ElementsAre(PrecisionOption{3, 6}, PrecisionOption{4, 8}, PrecisionOption{6, 12},
                          PrecisionOption{8, 16}));
  const auto own = dynamic(kGates, {"precision.dynamic.options=[[0, 0], [5, 7]]"}).options;
  EXPECT_THAT(own, ElementsAre(PrecisionOption{}, PrecisionOption{5, 7}));
  EXPECT_TRUE(own[0].skips());
  EXPECT_FALSE(own[1].skips());
}

TEST(DynamicRecipeTest, ANameAndItsListAreTheSameRecipe) {
  const std::string list = kHead +
                           "options = [[3, 6], [4, 6], [4, 8], [6, 8], [6, 12]]\nweight = 4\n"
                           "target = [3.0]\n";
  EXPECT_THAT(differences(parsed(kGates), parsed(list)), IsEmpty());
  EXPECT_EQ(fingerprint(parsed(kGates)), fingerprint(parsed(list)));
}

TEST(DynamicRecipeTest, TheDefaultsAreThePapers) {
  const DynamicRecipe recipe = dynamic(kGates);
  EXPECT_EQ(recipe.weight, 4);
  EXPECT_THAT(recipe.target, ElementsAre(3));
  EXPECT_EQ(recipe.beta, 1e-3);
  EXPECT_EQ(recipe.band, DynamicRecipe::Band::soft);
  EXPECT_EQ(recipe.band_width, 0);
  EXPECT_FALSE(recipe.ada_beta);
  EXPECT_EQ(recipe.form, DynamicRecipe::Form::chosen);
  EXPECT_EQ(recipe.loss, IndicatorRecipe::Loss::cross_entropy);
  EXPECT_EQ(parsed(kGates).evaluation.bits, "current");
}

TEST(DynamicRecipeTest, SeveralTargetsAreStages) {
  const DynamicRecipe recipe =
      dynamic(kHead +
              "options = \"cifar\"\nweight = 4\ntarget = [1.5, 2, 2.5, 3]\nepsilon = 0.15\n"
              "alpha = 0.4\nloss = \"total\"\nperiod = 390\ndeadlines = [0.2, 0.4, 0.6]\n"
              "band = \"flat\"\nband_width = 0.25\nform = \"all_candidates\"\nada_beta = true\n");
  EXPECT_THAT(recipe.target, ElementsAre(1.5, 2, 2.5, 3));
  EXPECT_EQ(recipe.epsilon, 0.15);
  EXPECT_EQ(recipe.loss, IndicatorRecipe::Loss::total);
  EXPECT_THAT(recipe.deadlines, ElementsAre(0.2, 0.4, 0.6));
  EXPECT_EQ(recipe.band, DynamicRecipe::Band::flat);
  EXPECT_EQ(recipe.form, DynamicRecipe::Form::all_candidates);
}

TEST(DynamicRecipeTest, RunsOfRecipesWithoutGatesKeepTheirFingerprint) {
  EXPECT_THAT(to_toml(parsed("steps = 1")), testing::Not(HasSubstr("dynamic")));
}

TEST(DynamicRecipeTest, GatesTakeThePlaceOfTheFilesSchedules) {
  const Recipe recipe = parsed("steps = 9\n[precision]\nforward = 8",
                               {"precision.dynamic={options=\"cifar\", weight=4, target=3.0}"});
  EXPECT_EQ(recipe.precision.dynamic->weight, 4);
}

struct Mistake {
  std::string text, message, hint;
};

// Without a head of its own a text stands in [precision.dynamic] between what is needed.
const std::vector<Mistake> kMistakes = {
    {kHead, "r.toml:2:1: precision.dynamic.options: expected what the gates may choose, found none",
     "options = \"cifar\""},
    {kHead + "options = \"cifar10\"",
     "r.toml:3:11: precision.dynamic.options: expected one of \"cifar\", \"imagenet\", found "
     "\"cifar10\"",
     "Did you mean \"cifar\"?"},
    {kHead + "options = 8",
     "precision.dynamic.options: expected \"cifar\", \"imagenet\" or a list of pairs of bits, "
     "found 8"},
    {kHead + "options = [[3, 6], 8]",
     "r.toml:3:20: precision.dynamic.options: expected a pair of activation and error bits, such "
     "as [4, 8], found 8"},
    {kHead + "options = [[3, 6, 8], [8, 8]]", "expected a pair of activation and error bits"},
    {kHead + "options = [[3, 33], [4, 8]]",
     "r.toml:3:16: precision.dynamic.options: expected a whole number from 0 to 32, found 33"},
    {kHead + "options = [[3, 6]]",
     "r.toml:3:11: precision.dynamic.options: expected at least 2 options, found 1",
     "leave out [precision.dynamic]"},
    {kHead + "options = [[3, 6], [4, 0]]",
     "expected bits for activations and errors, or [0, 0] to skip the block, found [4, 0]"},
    {kHead + "options = [[0, 0], [0, 0]]", "expected options that differ, found [0, 0] twice"},
    {kHead + "options = [[3, 6], [4, 8], [3, 6]]",
     "expected options that differ, found [3, 6] twice"},
    {kHead + "options = \"cifar\"",
     "r.toml:2:1: precision.dynamic.weight: expected the bits of weights, 1 to 32, found none",
     "weight = 4 on CIFAR"},
    {kHead + "options = \"cifar\"\nweight = 0",
     "r.toml:4:10: precision.dynamic.weight: expected a whole number from 1 to 32, found 0"},
    {kHead + "options = \"cifar\"\nweight = 4",
     "precision.dynamic.target: expected what the choices should cost, in percent, found nothing",
     "target = 3.0"},
    {kHead + "target = 0",
     "r.toml:3:10: precision.dynamic.target: expected a number from 0.001 to 100, found 0"},
    {kHead + "target = \"low\"",
     "precision.dynamic.target: expected a number or list of numbers from 0.001 to 100"},
    {kHead + "target = [2, 101]", "expected a number from 0.001 to 100, found 101"},
    {kHead + "options = \"cifar\"\nweight = 4\ntarget = [3, 2]",
     "r.toml:5:10: precision.dynamic.target: expected targets that do not fall from stage to "
     "stage, found 2 after 3"},
    {kGates + "beta = -1", "precision.dynamic.beta: expected a number from 0 to 1000000, found -1"},
    {kGates + "band_width = -0.5",
     "precision.dynamic.band_width: expected a number from 0 to 100, found -0.5"},
    {kGates + "band = \"hard\"", "precision.dynamic.band: expected one of \"soft\", \"flat\""},
    {kGates + "epsilon = 0.1",
     "precision.dynamic.epsilon applies only when precision.dynamic.target is a list of several",
     "change precision.dynamic.target"},
    {kHead + "options = \"cifar\"\nweight = 4\ntarget = [2, 3]\ndeadlines = [0.2, 0.4]",
     "r.toml:6:13: precision.dynamic.deadlines: expected 1, one for each turning point, found 2"},
    {kGates + "turning_points = 2", "unknown key precision.dynamic.turning_points"},
    {kGates + "[precision.progressive]\nforward = [3, 8]\nbackward = [8, 8]",
     "precision.dynamic applies only when precision.progressive is left out"},
    {kGates + "[precision]\nforward = 8",
     "precision.forward applies only when precision.dynamic is left out"},
    {kGates + "[[precision.override]]\nlayers = \"layer1.*\"\nforward = 8",
     "r.toml:7:10: precision.override[0]: \"layer1.*\" fits layer1.0.conv1, whose bits a gate "
     "chooses",
     "Name layers outside the blocks"},
    {kGates + "[[precision.override]]\nlayers = \"gates.head\"\nforward = 8",
     "fits gates.head, a layer of a gate, which is in float"},
    {kGates + "[model]\nname = \"lstm_lm\"\n[data]\ndataset = \"ptb\"",
     "r.toml:2:1: precision.dynamic: expected a network for pictures, for whose blocks gates "
     "choose, found lstm_lm, a language model",
     "Choose a network for pictures, or stages"},
    {kHead + "options = [[0, 0], [4, 8]]\nweight = 4\ntarget = 2\n[model]\n"
             "name = \"cifar_mobilenet_v2\"",
     "r.toml:3:11: precision.dynamic.options: expected blocks with a shortcut, as [0, 0] skips "
     "them, found none around layers.3.conv3 of cifar_mobilenet_v2",
     "Leave out [0, 0]"},
    {kGates + "[model]\nname = \"cifar_resnet39\"", "cifar_resnet39"},
    {kGates + "form = \"all_candidates\"\n[precision]\nbackend = \"integer\"",
     "r.toml:6:8: precision.dynamic.form: expected \"chosen\" with precision.backend \"integer\", "
     "found \"all_candidates\", which is simulated",
     "choose backend = \"simulate\""},
};

TEST(DynamicRecipeTest, EveryMistakeIsOneErrorWithItsPlaceAndACure) {
  for (const Mistake& mistake : kMistakes) {
    const std::string found = complaint(mistake.text);
    EXPECT_THAT(found, HasSubstr(mistake.message)) << mistake.text;
    EXPECT_THAT(found.substr(found.find(" | ")), HasSubstr(mistake.hint)) << mistake.text;
  }
}

TEST(DynamicRecipeTest, SkippingIsForNetworksWhoseBlocksAllHaveAShortcut) {
  for (const char* model : {"cifar_resnet38", "resnet18", "resnet50"}) {
    EXPECT_EQ(complaint(kHead +
                        "options = [[0, 0], [4, 8]]\nweight = 4\ntarget = 2\n[model]\n"
                        "name = \"" +
                        model + "\""),
              "accepted");
  }
}

std::vector<std::string> told(const std::string& more, const RunLength& length = {1000, 10}) {
  return notices(parsed(kHead + "options = \"cifar\"\n" + more), length);
}

TEST(DynamicRecipeTest, TargetsThatCannotBeReachedAreTold) {
  EXPECT_THAT(told("weight = 4\ntarget = 3"), IsEmpty());
  EXPECT_THAT(told("weight = 4\ntarget = [1.5, 2, 2.5, 3]"),
              ElementsAre("precision.dynamic.target: cp 1.5 % of stage 1 cannot be reached: the "
                          "options cost 1.758 to 4.688 %, so the gates are driven to the "
                          "cheapest"));
  EXPECT_THAT(told("weight = 4\ntarget = 100"),
              ElementsAre("precision.dynamic.target: cp 100 % cannot be reached: the options cost "
                          "1.758 to 4.688 %, so the gates are driven to the dearest"));
}

TEST(DynamicRecipeTest, TheReachOfMobileNetHasItsDepthwiseLayersInIt) {
  const std::string mobile =
      "\n[model]\nname = \"cifar_mobilenet_v2\"\n[data]\ndataset = \"cifar10\"";
  EXPECT_THAT(told("weight = 4\ntarget = 2.2" + mobile),
              Not(Contains(HasSubstr("cannot be reached"))));
  EXPECT_THAT(told("weight = 4\ntarget = 2.1" + mobile),
              Contains(HasSubstr("options cost 2.147 to")));
}

TEST(DynamicRecipeTest, StagesThatCannotBeReachedAreTold) {
  const std::string stages = "weight = 4\ntarget = [2, 2.5, 3]\n";
  EXPECT_THAT(told(stages, {101, 10}), IsEmpty());
  EXPECT_THAT(told(stages, {100, 10}),
              ElementsAre(HasSubstr("precision.dynamic: the last of 3 stages cannot be reached")));
}

}  // namespace
}  // namespace bitcycle
