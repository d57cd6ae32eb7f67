#include "bitcycle/report/run_group.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(RunGroupTest, SeedsAreOneGroupAndNothingElseIs) {
  Recipe a, b;
  b.seed = 7;
  b.threads = 3;
  EXPECT_EQ(run_group(a), run_group(b));
  b.optimizer.lr = 0.2;
  EXPECT_NE(run_group(a), run_group(b));
}

TEST(RunGroupTest, DataOfOnesOwnGoByTheirPlaceAndKnownOnesDoNot) {
  Recipe a, b;
  a.data.root = "here";
  b.data.root = "there";
  EXPECT_EQ(run_group(a), run_group(b));
  a.data.dataset = b.data.dataset = "image_folder";
  EXPECT_NE(run_group(a), run_group(b));
}

}  // namespace
}  // namespace bitcycle
