#include "data/subset.h"

#include "data/memory_dataset.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using Indices = std::vector<std::int64_t>;

Indices sorted(Indices indices) {
  std::sort(indices.begin(), indices.end());
  return indices;
}

TEST(PermutationTest, HoldsEveryNumberOnce) {
  EXPECT_TRUE(permutation(0, RandomKey(1)).empty());
  const Indices order = sorted(permutation(1000, RandomKey(1)));
  for (std::int64_t i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(PermutationTest, AllOrdersAreEquallyLikely) {
  std::map<Indices, int> counts;
  for (std::uint64_t i = 0; i < 24 * 500; ++i) ++counts[permutation(4, RandomKey(i))];
  ASSERT_EQ(counts.size(), 24u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 500, 5 * 22.4);
}

TEST(SplitTest, PartsAreDisjointAndTogetherWhole) {
  const SplitIndices split = split_indices(1003, 0.1, 0, RandomKey(7));
  EXPECT_EQ(split.validation.size(), 100u);
  EXPECT_EQ(split.train.size(), 903u);
  Indices all = split.train;
  all.insert(all.end(), split.validation.begin(), split.validation.end());
  EXPECT_EQ(sorted(all), sorted(permutation(1003, RandomKey(1))));
  EXPECT_EQ(split.validation, sorted(split.validation));
  EXPECT_EQ(split.train, sorted(split.train));
}

TEST(SplitTest, DependsOnTheKeyAlone) {
  EXPECT_EQ(split_indices(500, 0.2, 0, RandomKey(1)).validation,
            split_indices(500, 0.2, 0, RandomKey(1)).validation);
  EXPECT_NE(split_indices(500, 0.2, 0, RandomKey(1)).validation,
            split_indices(500, 0.2, 0, RandomKey(2)).validation);
}

TEST(SplitTest, LimitTakesFromEachPartWithoutMixingThem) {
  const SplitIndices whole = split_indices(500, 0.2, 0, RandomKey(1));
  const SplitIndices few = split_indices(500, 0.2, 30, RandomKey(1));
  EXPECT_EQ(few.train.size(), 30u);
  EXPECT_EQ(few.validation.size(), 30u);
  EXPECT_TRUE(
      std::includes(whole.train.begin(), whole.train.end(), few.train.begin(), few.train.end()));
  EXPECT_TRUE(std::includes(whole.validation.begin(), whole.validation.end(),
                            few.validation.begin(), few.validation.end()));
  EXPECT_EQ(split_indices(10, 0, 1000, RandomKey(1)).train.size(), 10u);
}

TEST(SplitTest, SmallSetsStillValidate) {
  EXPECT_EQ(split_indices(3, 0.01, 0, RandomKey(1)).validation.size(), 1u);
  EXPECT_TRUE(split_indices(3, 0, 0, RandomKey(1)).validation.empty());
  EXPECT_TRUE(split_indices(0, 0.5, 0, RandomKey(1)).validation.empty());
}

TEST(SubsetTest, LooksThroughToTheSamples) {
  PackedImages images{{1, 1, 1}, 10, {10, 11, 12, 13}, {0, 1, 2, 3}};
  const auto view = subset(std::make_shared<MemoryDataset>(std::move(images)), {3, 1});
  ASSERT_EQ(view->size(), 2);
  EXPECT_EQ(view->classes(), 10);
  EXPECT_EQ(view->label(0), 3);
  EXPECT_EQ(view->image(1).pixels, std::vector<std::uint8_t>{11});
}

}  // namespace
}  // namespace bitcycle
