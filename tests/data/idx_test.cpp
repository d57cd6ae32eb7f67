#include "data/idx.h"

#include "data/support.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using test::Bytes;
using test::expect_error;
using test::to_bytes;

// Two pictures of 1 x 3 pixels.
const Bytes kImages =
    to_bytes({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255});
const Bytes kLabels = to_bytes({0, 0, 8, 1, 0, 0, 0, 2, 9, 0});

PackedImages decode(const Bytes& images, const Bytes& labels) {
  return decode_idx_images({images, "images"}, {labels, "labels"}, 10);
}

TEST(IdxTest, ReadsPicturesAndLabels) {
  const MemoryDataset dataset(decode(kImages, kLabels));
  ASSERT_EQ(dataset.size(), 2);
  EXPECT_EQ(dataset.classes(), 10);
  EXPECT_EQ(dataset.label(0), 9);
  EXPECT_EQ(dataset.label(1), 0);
  EXPECT_EQ(dataset.image(1).shape, (ImageShape{1, 1, 3}));
  EXPECT_EQ(dataset.image(1).pixels, (std::vector<std::uint8_t>{4, 5, 255}));
}

TEST(IdxTest, EveryCutShowsWhichFileAndHowMuch) {
  for (std::size_t size = 0; size < kImages.size(); ++size) {
    const Bytes cut(kImages.begin(), kImages.begin() + static_cast<std::ptrdiff_t>(size));
    expect_error([&] { decode(cut, kLabels); }, ErrorCode::data, {"images is damaged", "expected"});
  }
  expect_error(
      [&] {
        decode({kImages.begin(), kImages.end() - 1}, kLabels);
      },
      ErrorCode::data, {"6 bytes (2 x 1 x 3)", "found 5"});
}

TEST(IdxTest, BytesAfterTheEndAreDamage) {
  Bytes longer = kImages;
  longer.push_back({});
  expect_error([&] { decode(longer, kLabels); }, ErrorCode::data, {"6 bytes", "found 7"});
}

TEST(IdxTest, WrongMagicIsDamage) {
  expect_error([] { decode(kLabels, kLabels); }, ErrorCode::data, {"an IDX header of 16 bytes"});
  Bytes floats = kImages;
  floats[2] = std::byte{0x0d};
  expect_error([&] { decode(floats, kLabels); }, ErrorCode::data, {"0x00000803", "0x00000d03"});
}

TEST(IdxTest, LabelsMustFitPicturesAndClasses) {
  const Bytes one = to_bytes({0, 0, 8, 1, 0, 0, 0, 1, 9});
  expect_error([&] { decode(kImages, one); }, ErrorCode::data, {"2 labels", "found 1"});
  const Bytes ten = to_bytes({0, 0, 8, 1, 0, 0, 0, 2, 0, 10});
  expect_error([&] { decode(kImages, ten); }, ErrorCode::data,
               {"labels from 0 to 9", "10 for sample 1"});
}

TEST(IdxTest, DimensionsThatOverflowAreDamage) {
  Bytes huge = kImages;
  for (std::size_t i = 4; i < 16; ++i) huge[i] = std::byte{0xff};
  expect_error([&] { decode(huge, kLabels); }, ErrorCode::data, {"images is damaged"});
  const Bytes flat = to_bytes({0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 0, 255, 255, 255, 255});
  expect_error(
      [&] {
        decode(flat, to_bytes({0, 0, 8, 1, 0, 0, 0, 1, 0}));
      },
      ErrorCode::data, {"1 to 65535 pixels a side"});
}

TEST(IdxTest, NoPicturesAreDamage) {
  const Bytes none = to_bytes({0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3});
  expect_error(
      [&] {
        decode(none, to_bytes({0, 0, 8, 1, 0, 0, 0, 0}));
      },
      ErrorCode::data, {"images is damaged", "at least one picture"});
}

}  // namespace
}  // namespace bitcycle
