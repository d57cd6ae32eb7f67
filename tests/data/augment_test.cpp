#include "bitcycle/data/augment.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

// Pixel values 1 to 255, each place its own as far as they go.
Image numbered(ImageShape shape) {
  Image image{shape, std::vector<std::uint8_t>(static_cast<std::size_t>(shape.elements()))};
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<std::uint8_t>(1 + i % 255);
  }
  return image;
}

std::vector<float> apply(const Image& image, const Augmentation& augmentation, RandomKey key) {
  std::vector<float> out(
      static_cast<std::size_t>(output_shape(augmentation, image.shape).elements()), -1e9f);
  augment(image, augmentation, key, out);
  return out;
}

// Back to pixel values when nothing was normalised.
std::vector<int> pixels(const std::vector<float>& values) {
  std::vector<int> result;
  for (float v : values) result.push_back(static_cast<int>(std::lround(v * 255)));
  return result;
}

TEST(AugmentTest, EvaluationOnlyNormalises) {
  const Image image = numbered({3, 32, 32});
  const std::vector<float> out = apply(image, evaluation_augmentation("cifar10", 0), RandomKey(1));
  const double mean[] = {.4914, .4822, .4465};
  const double deviation[] = {.2023, .1994, .2010};
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_NEAR(out[i], (image.pixels[i] / 255.0 - mean[i % 3]) / deviation[i % 3], 1e-6);
  }
}

TEST(AugmentTest, PaddingIsBlackBeforeNormalising) {
  Augmentation augmentation = training_augmentation("cifar10", 0);
  const Image white{{3, 32, 32}, std::vector<std::uint8_t>(3 * 32 * 32, 255)};
  std::set<float> reds;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::vector<float> out = apply(white, augmentation, RandomKey(i));
    for (std::size_t p = 0; p < out.size(); p += 3) reds.insert(out[p]);
  }
  ASSERT_EQ(reds.size(), 2u);
  EXPECT_NEAR(*reds.begin(), -.4914 / .2023, 1e-6);
  EXPECT_NEAR(*reds.rbegin(), (1 - .4914) / .2023, 1e-6);
}

// All 81 places of the crop and both directions come up, equally often, and each result is the
// padded picture cut there.
TEST(AugmentTest, RandomCropTakesEveryPlaceEquallyOften) {
  const Augmentation augmentation{
      .pad = 4, .crop = Crop::random, .flip = Flip::random, .mean = {0}, .deviation = {1}};
  const Image image = numbered({1, 8, 8});
  const auto padded = [&](int y, int x) {
    const bool inside = y >= 0 && y < 8 && x >= 0 && x < 8;
    return inside ? int{image.pixels[static_cast<std::size_t>(8 * y + x)]} : 0;
  };
  std::map<std::vector<int>, int> expected;
  for (int top = -4; top <= 4; ++top) {
    for (int left = -4; left <= 4; ++left) {
      for (bool mirror : {false, true}) {
        std::vector<int> crop;
        for (int i = 0; i < 64; ++i) {
          crop.push_back(padded(top + i / 8, left + (mirror ? 7 - i % 8 : i % 8)));
        }
        expected[crop] = 0;
      }
    }
  }
  ASSERT_EQ(expected.size(), 162u);
  constexpr int kDraws = 162 * 200;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const auto found = expected.find(pixels(apply(image, augmentation, RandomKey(1).derive(i))));
    ASSERT_NE(found, expected.end());
    ++found->second;
  }
  double chi_square = 0;
  for (const auto& [crop, count] : expected) chi_square += (count - 200.0) * (count - 200.0) / 200;
  EXPECT_LT(chi_square, 161 + 5 * std::sqrt(2 * 161.0));
}

TEST(AugmentTest, TheSameKeyGivesTheSameBytes) {
  const Image image = numbered({3, 40, 50});
  const Augmentation augmentation = training_augmentation("image_folder", 24);
  EXPECT_EQ(apply(image, augmentation, RandomKey(5)), apply(image, augmentation, RandomKey(5)));
  EXPECT_NE(apply(image, augmentation, RandomKey(5)), apply(image, augmentation, RandomKey(6)));
}

// A picture that is a ramp in x (red) and in y (green) tells which window was taken: the range of
// red is the window's width, that of green its height.
TEST(AugmentTest, RandomResizedCropKeepsItsBounds) {
  constexpr int kSide = 200;
  Image ramp{{3, kSide, kSide}, {}};
  for (int i = 0; i < kSide * kSide; ++i) {
    for (int value : {i % kSide, i / kSide, 0}) {
      ramp.pixels.push_back(static_cast<std::uint8_t>(value));
    }
  }
  Augmentation augmentation{.crop = Crop::random_resized,
                            .size = 100,
                            .flip = Flip::never,
                            .mean = {0},
                            .deviation = {1}};
  double smallest = 1, largest = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::vector<int> out = pixels(apply(ramp, augmentation, RandomKey(2).derive(i)));
    ASSERT_EQ(out.size(), 100u * 100 * 3);
    const std::size_t last = out.size() - 3;
    const double width = out[last] - out[0] + 1, height = out[last + 1] - out[1] + 1;
    EXPECT_GT(width / height, 0.75 * 0.93);
    EXPECT_LT(width / height, 4 / 3.0 * 1.07);
    smallest = std::min(smallest, width * height / (kSide * kSide));
    largest = std::max(largest, width * height / (kSide * kSide));
  }
  EXPECT_NEAR(smallest, 0.08, 0.02);
  EXPECT_GT(largest, 0.9);
}

TEST(AugmentTest, VeryNarrowPicturesAreCutInTheMiddle) {
  Augmentation augmentation{.crop = Crop::random_resized, .size = 4};
  const Image line = numbered({1, 1, 99});
  const std::vector<int> out = pixels(apply(line, augmentation, RandomKey(3)));
  for (int value : out) EXPECT_EQ(value, 50);
}

TEST(AugmentTest, EvaluationResizesTheShorterSideAndCutsTheMiddle) {
  const Augmentation augmentation = evaluation_augmentation("image_folder", 224);
  EXPECT_EQ(augmentation.resize, 256);
  EXPECT_EQ(augmentation.size, 224);
  EXPECT_EQ(output_shape(augmentation, {3, 375, 500}), (ImageShape{3, 224, 224}));
  EXPECT_EQ(apply(numbered({3, 375, 500}), augmentation, RandomKey(1)).size(), 3u * 224 * 224);
  EXPECT_EQ(apply(numbered({3, 500, 10}), augmentation, RandomKey(1)).size(), 3u * 224 * 224);
}

TEST(AugmentTest, CentralCropRoundsLikeTorchvision) {
  // Room of 1 and 3: Python's round takes 0.5 to 0 and 1.5 to 2.
  const Augmentation augmentation{.crop = Crop::center, .size = 2, .mean = {0}, .deviation = {1}};
  const std::vector<int> out = pixels(apply(numbered({1, 3, 5}), augmentation, RandomKey(1)));
  EXPECT_EQ(out, (std::vector<int>{3, 4, 8, 9}));
}

TEST(AugmentTest, CropsLargerThanThePictureAreFilledWithBlack) {
  const Augmentation augmentation{.crop = Crop::center, .size = 4, .mean = {0}, .deviation = {1}};
  const std::vector<int> out = pixels(apply(numbered({1, 2, 2}), augmentation, RandomKey(1)));
  EXPECT_EQ(out, (std::vector<int>{0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0}));
}

TEST(AugmentTest, EveryDatasetKeepsItsSize) {
  EXPECT_EQ(output_shape(training_augmentation("fashion_mnist", 0), {1, 28, 28}),
            (ImageShape{1, 28, 28}));
  EXPECT_EQ(output_shape(training_augmentation("cifar100", 0), {3, 32, 32}),
            (ImageShape{3, 32, 32}));
  EXPECT_EQ(output_shape(training_augmentation("image_folder", 160), {3, 9, 700}),
            (ImageShape{3, 160, 160}));
  EXPECT_EQ(output_shape(training_augmentation("synthetic", 0), {5, 12, 16}),
            (ImageShape{5, 12, 16}));
}

}  // namespace
}  // namespace bitcycle
