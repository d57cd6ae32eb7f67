#include "bitcycle/config/chosen_bits.h"

#include "bitcycle/network/gates.h"
#include "bitcycle/network/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;

PrecisionRecipe gates() {
  PrecisionRecipe recipe;
  recipe.dynamic.emplace();
  recipe.dynamic->options = {{0, 0}, {3, 6}, {8, 16}};
  recipe.dynamic->weight = 4;
  recipe.dynamic->target = {2.5};
  return recipe;
}

DynamicPolicy policy_of(const PrecisionRecipe& recipe) {
  return {recipe, layers_of(gated(make_network("cifar_resnet8"), 3)), {10, 10}};
}

const Mixture& mixture_of(const StepBits& bits, const DynamicPolicy& policy, const char* name) {
  for (std::size_t i = 0; i < policy.layers().size(); ++i) {
    if (policy.layers()[i].name == name) return bits.mixtures.at(i);
  }
  throw std::out_of_range(name);
}

TEST(ChosenBitsTest, AreMeansOverBlocksAndSamplesInWhichSkippingIsZero) {
  const ChosenBits chosen =
      chosen_bits(*gates().dynamic, BlockShares{{0.5, 0.5, 0}, {1, 0, 0}, {0, 0.25, 0.75}});
  EXPECT_EQ(chosen.bits.weight, 4);
  EXPECT_DOUBLE_EQ(chosen.bits.activation, (1.5 + 0 + 6.75) / 3);
  EXPECT_DOUBLE_EQ(chosen.bits.error, (3 + 0 + 13.5) / 3);
  EXPECT_DOUBLE_EQ(chosen.skipped, 0.5);
}

TEST(ChosenBitsTest, WhereAllSkipThereAreNone) {
  const ChosenBits chosen =
      chosen_bits(*gates().dynamic, BlockShares{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}});
  EXPECT_EQ(chosen.bits.activation, 0);
  EXPECT_EQ(chosen.bits.error, 0);
  EXPECT_EQ(chosen.skipped, 1);
}

TEST(ChosenBitsTest, EveryBlockHasTheBitsThatItsSamplesChose) {
  const DynamicPolicy policy = policy_of(gates());
  const StepBits bits = chosen_step(policy, {{0, 1, 0}, {0.5, 0.25, 0.25}, {1, 0, 0}});
  EXPECT_EQ(mixture_of(bits, policy, "layer1.0.conv1").shares.front(), 1);
  const Mixture& second = mixture_of(bits, policy, "layer2.0.conv2");
  EXPECT_THAT(second.bits, ElementsAre(LayerBits{4, 3, 6}, LayerBits{4, 8, 16}));
  EXPECT_THAT(second.shares, ElementsAre(0.25, 0.25));
  EXPECT_THAT(mixture_of(bits, policy, "layer3.0.conv1").shares, ElementsAre(0, 0));
  const Mixture& around = mixture_of(bits, policy, "layer3.0.downsample.0");
  EXPECT_EQ(around.bits.front(), (LayerBits{4, 8, 16}));
  EXPECT_EQ(around.shares.front(), 1);
}

TEST(ChosenBitsTest, AllCandidatesAreComputedWhateverIsChosen) {
  PrecisionRecipe recipe = gates();
  recipe.dynamic->form = DynamicRecipe::Form::all_candidates;
  const DynamicPolicy policy = policy_of(recipe);
  const StepBits bits = policy.chosen({1, 0, 0});
  const Mixture& conv = mixture_of(bits, policy, "layer2.0.conv2");
  EXPECT_THAT(conv.bits, ElementsAre(LayerBits{4, 3, 6}, LayerBits{4, 8, 16}));
  EXPECT_THAT(conv.shares, ElementsAre(1, 1));
  const Mixture& around = mixture_of(bits, policy, "layer2.0.downsample.0");
  EXPECT_THAT(around.bits, ElementsAre(LayerBits{}, LayerBits{4, 3, 6}, LayerBits{4, 8, 16}));
  EXPECT_THAT(around.shares, ElementsAre(1, 1, 1));
}

TEST(ChosenBitsTest, SharesOfOtherOptionsDoNotFit) {
  EXPECT_TRUE(fits({{1, 0, 0}}, *gates().dynamic));
  EXPECT_FALSE(fits({{1, 0}}, *gates().dynamic));
  EXPECT_FALSE(fits({}, *gates().dynamic));
}

TEST(ChosenBitsTest, SinksAreToldMeansWhereGatesChoose) {
  EXPECT_FALSE(mean_of_choices(PrecisionRecipe()));
  EXPECT_EQ(mean_of_choices(gates())({{0.5, 0, 0.5}}).error, 8);
}

}  // namespace
}  // namespace bitcycle
