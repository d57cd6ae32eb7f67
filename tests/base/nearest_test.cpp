#include "bitcycle/base/nearest.h"

#include <vector>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

const std::vector<std::string> kNames = {"momentum", "weight_decay", "lr"};

TEST(NearestTest, FindsASlipOfOneOrTwoLetters) {
  EXPECT_EQ(nearest_name("momentun", kNames), "momentum");
  EXPECT_EQ(nearest_name("weightdecay", kNames), "weight_decay");
  EXPECT_EQ(nearest_name("LR", kNames), "lr");
  EXPECT_EQ(nearest_name("rl", kNames), "lr");
}

TEST(NearestTest, FindsWhatLacksItsFront) {
  const std::vector<std::string> names = {"resnet18", "cifar_resnet38", "cifar_resnet8",
                                          "first_momentum", "second_momentum"};
  EXPECT_EQ(nearest_name("resnet38", names), "cifar_resnet38");
  EXPECT_EQ(nearest_name("momentum", names), "");
  EXPECT_EQ(nearest_name("et8", names), "");
}

TEST(NearestTest, SaysNothingWhenNothingIsClose) {
  EXPECT_EQ(nearest_name("batch_size", kNames), "");
  EXPECT_EQ(nearest_name("", kNames), "");
}

TEST(NearestTest, SuggestsTheNameOrListsAll) {
  EXPECT_EQ(suggest("momentun", kNames), "Did you mean \"momentum\"?");
  EXPECT_EQ(suggest("zzzzzz", kNames), "Known names: momentum, weight_decay, lr.");
}

}  // namespace
}  // namespace bitcycle
