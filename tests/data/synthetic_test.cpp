#include "data/synthetic.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

const SyntheticOptions kSmall = {{2, 10, 6}, 5, 200, 100};

TEST(SyntheticTest, HasTheAskedShapeSizeAndClasses) {
  const auto train = make_synthetic(kSmall, RandomKey(1), Split::train);
  const auto test = make_synthetic(kSmall, RandomKey(1), Split::test);
  EXPECT_EQ(train->size(), 200);
  EXPECT_EQ(test->size(), 100);
  EXPECT_EQ(train->classes(), 5);
  EXPECT_EQ(train->image(0).shape, (ImageShape{2, 10, 6}));
  EXPECT_EQ(train->image(0).pixels.size(), 120u);
}

TEST(SyntheticTest, DependsOnSeedSplitAndIndex) {
  const auto image = [](std::uint64_t seed, Split split, std::int64_t index) {
    return make_synthetic(kSmall, RandomKey(seed), split)->image(index).pixels;
  };
  EXPECT_EQ(image(1, Split::train, 3), image(1, Split::train, 3));
  EXPECT_NE(image(1, Split::train, 3), image(2, Split::train, 3));
  EXPECT_NE(image(1, Split::train, 3), image(1, Split::test, 3));
  EXPECT_NE(image(1, Split::train, 3), image(1, Split::train, 8));  // of the same class
}

// The mean picture of each class, learnt on the training set, tells the test set apart.
TEST(SyntheticTest, NearestMeanLearnsIt) {
  const auto train = make_synthetic(kSmall, RandomKey(1), Split::train);
  const auto test = make_synthetic(kSmall, RandomKey(1), Split::test);
  std::vector<std::vector<double>> means(5, std::vector<double>(120));
  for (std::int64_t i = 0; i < train->size(); ++i) {
    const Image image = train->image(i);
    for (std::size_t p = 0; p < 120; ++p) {
      means[static_cast<std::size_t>(train->label(i))][p] += image.pixels[p] / 40.0;
    }
  }
  const auto distance = [](const std::vector<double>& mean, const Image& image) {
    double sum = 0;
    for (std::size_t p = 0; p < 120; ++p) sum += std::pow(mean[p] - image.pixels[p], 2);
    return sum;
  };
  int right = 0;
  for (std::int64_t i = 0; i < test->size(); ++i) {
    const Image image = test->image(i);
    const auto nearest = std::min_element(means.begin(), means.end(), [&](auto& a, auto& b) {
      return distance(a, image) < distance(b, image);
    });
    right += nearest - means.begin() == test->label(i) ? 1 : 0;
  }
  EXPECT_GT(right, 95);
}

}  // namespace
}  // namespace bitcycle
