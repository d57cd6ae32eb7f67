#include "data/pictures/jpeg.h"

#include "data/pictures.h"
#include "data/support.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using test::Bytes;
using test::expect_error;

// Within what the lossy coding of a flat colour may change.
constexpr int kNear = 3;

TEST(JpegTest, DecodesColour) {
  const Image image = decode_jpeg(test::flat_jpeg(17, 9, {200, 100, 50}), "x.jpg");
  EXPECT_EQ(image.shape, (ImageShape{3, 9, 17}));
  ASSERT_EQ(image.pixels.size(), 17u * 9 * 3);
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    EXPECT_NEAR(image.pixels[i], 200, kNear);
    EXPECT_NEAR(image.pixels[i + 1], 100, kNear);
    EXPECT_NEAR(image.pixels[i + 2], 50, kNear);
  }
}

TEST(JpegTest, GreyBecomesThreeEqualChannels) {
  const Image image = decode_jpeg(test::flat_jpeg(8, 8, {77}), "x.jpg");
  EXPECT_EQ(image.shape.channels, 3);
  for (std::uint8_t value : image.pixels) EXPECT_NEAR(value, 77, kNear);
}

TEST(JpegTest, InkOfCmykDarkens) {
  const Image image = decode_jpeg(test::flat_jpeg(8, 8, {255, 128, 0, 128}), "x.jpg");
  ASSERT_EQ(image.pixels.size(), 8u * 8 * 3);
  EXPECT_NEAR(image.pixels[0], 128, kNear);
  EXPECT_NEAR(image.pixels[1], 64, kNear);
  EXPECT_NEAR(image.pixels[2], 0, kNear);
}

TEST(JpegTest, EveryCutIsDamage) {
  const Bytes whole = test::noisy_jpeg(40, 40);
  // The last two bytes are the end marker, without which a decoder has still seen all pixels.
  for (std::size_t size = 0; size + 2 < whole.size(); size += 7) {
    const std::span<const std::byte> cut = std::span(whole).first(size);
    expect_error([&] { decode_jpeg(cut, "x.jpg"); }, ErrorCode::data, {"x.jpg is damaged"});
  }
}

TEST(JpegTest, BrokenCodesAreDamageWhereTheDecoderSeesThem) {
  const Bytes whole = test::noisy_jpeg(40, 40);
  int found = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Bytes flipped = whole;
    flipped[i] ^= std::byte{0x10};
    try {
      decode_jpeg(flipped, "x.jpg");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::data);
      ++found;
    }
  }
  EXPECT_GT(found, 0);
}

TEST(JpegTest, OtherFilesAreNamed) {
  expect_error([] { decode_jpeg({}, "x.jpg"); }, ErrorCode::data, {"x.jpg", "an empty file"});
  expect_error(
      [] {
        decode_jpeg(test::to_bytes({0x89, 'P', 'N', 'G', 13, 10}), "x.jpg");
      },
      ErrorCode::data, {"a JPEG picture", "89 50 4e 47 at its start"});
}

TEST(JpegTest, AbsurdSizesAreDamageNotMemory) {
  Bytes huge = test::flat_jpeg(8, 8, {1, 2, 3});
  const Bytes frame = test::to_bytes({0xff, 0xc0});
  const auto start = std::search(huge.begin(), huge.end(), frame.begin(), frame.end());
  ASSERT_NE(start, huge.end());
  std::fill(start + 5, start + 9, std::byte{0xf0});  // height and width
  expect_error([&] { decode_jpeg(huge, "x.jpg"); }, ErrorCode::data, {"61680 x 61680"});
}

}  // namespace
}  // namespace bitcycle
