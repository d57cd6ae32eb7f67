#include "bitcycle/base/random.h"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(RandomKeyTest, FirstNumberOfSplitMix64IsReproduced) {
  // The published first output of SplitMix64 seeded with 0 is the finalizer of the Weyl constant.
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15ULL), 0xe220a8397b1dcdafULL);
}

TEST(RandomKeyTest, DerivedKeysDiffer) {
  const RandomKey key(7);
  std::set<std::uint64_t> values;
  for (int i = 0; i < 1000; ++i) values.insert(key.derive(i).value());
  values.insert(key.derive("weights").value());
  values.insert(key.derive("augment").value());
  EXPECT_EQ(values.size(), 1002U);
}

TEST(RandomKeyTest, UniformAndNormalHaveTheirMoments) {
  const RandomKey key(1);
  const int n = 100000;
  double sum = 0, normal_sum = 0, normal_square = 0;
  for (int i = 0; i < n; ++i) {
    sum += key.uniform(i);
    const double z = key.normal(i);
    normal_sum += z;
    normal_square += z * z;
  }
  EXPECT_NEAR(sum / n, 0.5, 5 * 0.2887 / std::sqrt(n));
  EXPECT_NEAR(normal_sum / n, 0.0, 5 / std::sqrt(n));
  EXPECT_NEAR(normal_square / n, 1.0, 5 * std::sqrt(2.0 / n));
}

TEST(RandomKeyTest, BelowCoversItsRangeEvenly) {
  const RandomKey key(3);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[key.below(i, 7)];
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);
}

TEST(NoiseTest, LiesInsideTheOpenHalfUnitIntervalWithMeanZero) {
  const NoiseKey key = noise_key(RandomKey(11));
  double sum = 0;
  const int n = 1 << 18;
  for (int i = 0; i < n; ++i) {
    const float u = noise(key, i);
    ASSERT_GT(u, -0.5f);
    ASSERT_LT(u, 0.5f);
    sum += u;
  }
  EXPECT_NEAR(sum / n, 0.0, 5 * 0.2887 / std::sqrt(n));
}

TEST(NoiseTest, NeighboursAndKeysAreUncorrelated) {
  const NoiseKey a = noise_key(RandomKey(11)), b = noise_key(RandomKey(12));
  double neighbours = 0, keys = 0;
  const int n = 1 << 18;
  for (int i = 0; i < n; ++i) {
    neighbours += noise(a, i) * noise(a, i + 1);
    keys += noise(a, i) * noise(b, i);
  }
  const double bound = 5 * (1.0 / 12) / std::sqrt(n);
  EXPECT_NEAR(neighbours / n, 0.0, bound);
  EXPECT_NEAR(keys / n, 0.0, bound);
}

}  // namespace
}  // namespace bitcycle
