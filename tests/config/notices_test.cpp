#include "bitcycle/config/notices.h"

#include "bitcycle/network/gates.h"
#include "bitcycle/network/zoo.h"

#include "config/recipe_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NoticesTest, AnOddNumberOfTriangularCyclesIsToldNotRefused) {
  const auto with = [](const std::string& precision) {
    return notices(parsed("steps = 90\n[precision]\n" + precision), {90, 10});
  };
  const std::string odd = "{ schedule = \"CT\", min = 3, max = 8, cycles = 3 }";
  EXPECT_THAT(with("forward = " + odd),
              ElementsAre("precision.forward: an odd number of CT cycles (3) ends the run at 3 "
                          "bits; an even number ends it at 8"));
  EXPECT_THAT(with("override = [{ layers = \"conv1\", weight = " + odd + " }]"),
              ElementsAre(HasSubstr("precision.override of conv1: weight: an odd number")));
  EXPECT_THAT(with("forward = { schedule = \"CT\", min = 3, max = 8, cycles = 4 }"), IsEmpty());
  EXPECT_THAT(with("forward = { schedule = \"CR\", min = 3, max = 8, cycles = 3 }"), IsEmpty());
}

TEST(NoticesTest, AWarmUpOfMostOfTheRunIsTold) {
  const Recipe recipe = parsed("epochs = 2\n[lr_schedule]\nwarmup_steps = 50\n");
  EXPECT_THAT(notices(recipe, {12, 6}), ElementsAre(HasSubstr("for 12 of the run's 12 steps")));
  EXPECT_THAT(notices(recipe, {80, 40}), ElementsAre(HasSubstr("take warmup_steps = 8 or so")));
  EXPECT_THAT(notices(recipe, {100, 50}), IsEmpty());
}

TEST(NoticesTest, AWarmUpIsToldAsWhatItIs) {
  const std::string warmup = "steps = 12\n[lr_schedule]\nwarmup_steps = 50\n";
  EXPECT_THAT(notices(parsed(warmup), {12, 6}),
              ElementsAre(HasSubstr("the learning rate is 0.1 of optimizer.lr for 12 of")));
  EXPECT_THAT(notices(parsed(warmup + "warmup = \"linear\"\n"), {12, 6}),
              ElementsAre(HasSubstr("the learning rate rises for 12 of")));
  EXPECT_THAT(
      notices(parsed(warmup), {1, 1}),
      ElementsAre(HasSubstr("for 1 of the run's 1 step; for a run as short as this, take no "
                            "warm-up: warmup_steps = 0")));
}

TEST(NoticesTest, AWarmUpLongerThanTheRunIsTheSameInStepsAndEpochs) {
  const std::string warmup = "[lr_schedule]\nwarmup_steps = 50\n";
  const auto in_steps = notices(parsed("steps = 12\n" + warmup), {12, 6});
  EXPECT_THAT(in_steps, ElementsAre(HasSubstr("for 12 of the run's 12 steps")));
  EXPECT_EQ(in_steps, notices(parsed("epochs = 2\n" + warmup), {12, 6}));
}

TEST(NoticesTest, AWarmUpThatIsAFractionFitsEveryRun) {
  const Recipe recipe = parsed("epochs = 2\n[lr_schedule]\nwarmup_fraction = 0.05\n");
  EXPECT_THAT(notices(recipe, {2, 1}), IsEmpty());
  EXPECT_THAT(notices(recipe, {12, 6}), IsEmpty());
}

TEST(NoticesTest, BatchNormOfAHandfulOfValuesIsTold) {
  const Network small = make_network("resnet18", {.classes = 10, .input = ImageShape{3, 32, 32}});
  EXPECT_THAT(
      norm_notices(small, 2),
      ElementsAre(HasSubstr("the batch norm of layer4.0.conv1 sees 2 values of a channel at "
                            "a time (2 x 1 x 1), too few")));
  EXPECT_THAT(norm_notices(small, 8), IsEmpty());
  EXPECT_THAT(norm_notices(gated(small, 2), 2),
              ElementsAre(HasSubstr("(2 x 1 x 1), fewer where gates skip, too few")));
  EXPECT_THAT(norm_notices(make_network("resnet18"), 1), IsEmpty());  // 7 x 7
}

TEST(NoticesTest, ExpressionsAndShortRunsAreToldByTheirKey) {
  const auto with = [](const std::string& precision) {
    return notices(parsed("epochs = 9\n[precision]\n" + precision), {90, 10});
  };
  EXPECT_THAT(with("forward = \"8 until 0.5, LT 3:8 x3\""),
              ElementsAre(HasSubstr("precision.forward: an odd number of LT cycles (3)")));
  EXPECT_THAT(with("backward = \"CR 3:8 x90\""),
              ElementsAre(HasSubstr("precision.backward: 90 cycles of CR in 90 steps")));
  EXPECT_THAT(with("forward = \"CR 3:8 x3\"\nper = \"epoch\""),
              ElementsAre(HasSubstr("precision.forward: CR does not reach its upper bound of 8 "
                                    "bits in 9 epochs, only 7")));
  EXPECT_THAT(with("forward = \"CR 3:8 x3\""), IsEmpty());
}

TEST(NoticesTest, RatesThatWageubnCannotUseAreTold) {
  const auto with = [](const std::string& text) {
    return notices(parsed("steps = 2000\n" + text), {2000, 10});
  };
  const std::string full = "[precision]\nscheme = \"wageubn-full\"\n";
  const std::string lite = "[precision]\nscheme = \"wageubn-lite\"\n";
  EXPECT_THAT(with(full + "[optimizer]\nlr = 0.05"),
              ElementsAre(HasSubstr("in about 500 of 2000 steps it is 0")));  // 0.0005 at the end
  EXPECT_THAT(with(full + "[optimizer]\nlr = 0.05\n[lr_schedule]\nfactor = 0.2"), IsEmpty());
  EXPECT_THAT(with(lite + "[optimizer]\nlr = 0.1"), ElementsAre(HasSubstr("0.1 is a high rate")));
  EXPECT_THAT(with(lite + "[optimizer]\nlr = 0.005"), IsEmpty());
}

TEST(NoticesTest, ErrorsOfOneBitAreTold) {
  const auto with = [](const std::string& precision) {
    return notices(parsed("steps = 90\n" + precision), {90, 10});
  };
  EXPECT_THAT(with("[precision]\nbackward = 1"), ElementsAre(HasSubstr("errors of 1 bit")));
  EXPECT_THAT(with("[precision]\nbackward = \"CR 1:8 x2\""),
              ElementsAre(HasSubstr("errors of 1 bit")));
  EXPECT_THAT(with("[precision]\nbackward = 2"), IsEmpty());
  EXPECT_THAT(with("[precision]\nforward = 1\nbackward = \"fp\""), IsEmpty());
}

// All samples at [8, 8] beside 8-bit weights cost what static 8/8 does, and besides gates and a
// float stem, which is 1.1 % of the network and counts 16 times as much as at 8 bits.
TEST(NoticesTest, GatesThatSaveNothingAreTold) {
  const auto with = [](const std::string& options, int weight) {
    return notices(parsed("steps = 90\n[model]\nname = \"cifar_resnet20\"\n[data]\n"
                          "dataset = \"cifar10\"\n[precision.dynamic]\n"
                          "target = 6.0\nweight = " +
                          std::to_string(weight) + "\noptions = " + options),
                   {90, 10});
  };
  EXPECT_THAT(
      with("[[4, 4], [8, 8]]", 8),
      testing::Contains(testing::AllOf(HasSubstr("an option costs not less than static 8/8"),
                                       HasSubstr("[8, 8] (118."))));
  EXPECT_THAT(with("[[8, 8], [8, 16]]", 8),
              testing::Contains(HasSubstr("no choice saves anything")));
  EXPECT_THAT(with("[[3, 6], [4, 8]]", 4),
              testing::Not(testing::Contains(HasSubstr("not less than static"))));
}

// The share of the float stem depends on the pictures: of gray ones it is a third.
TEST(NoticesTest, GatesAreCountedOnThePicturesOfTheDataset) {
  const Recipe gray = parsed(
      "steps = 90\n[model]\nname = \"cifar_resnet20\"\n[data]\ndataset = \"fashion_mnist\"\n"
      "[precision.dynamic]\ntarget = 6.0\nweight = 8\noptions = [[4, 4], [8, 8]]");
  const Network network = gated(make_network("cifar_resnet20", {10, ImageShape{1, 28, 28}}), 2);
  const DynamicPolicy policy(gray.precision, layers_of(network), {90, 10});
  EXPECT_THAT(notices(gray, {90, 10}),
              testing::Contains(gate_cost_notices(policy, Counting::paper).front()));
}

}  // namespace
}  // namespace bitcycle
