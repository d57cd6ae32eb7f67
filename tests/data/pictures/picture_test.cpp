#include "data/pictures/picture.h"

#include "data/pictures.h"
#include "data/pictures/exif.h"
#include "data/support.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using test::expect_error;
using test::to_bytes;

TEST(PictureTest, ContentDecidesAndNotTheName) {
  const test::Bytes jpeg = test::flat_jpeg(6, 4, {200, 100, 50});
  const test::Bytes png = test::png({.width = 6, .height = 4}, std::vector<std::uint8_t>(72, 7));
  EXPECT_EQ(picture_format(jpeg), "JPEG");
  EXPECT_EQ(picture_format(png), "PNG");
  EXPECT_NEAR(decode_picture(jpeg, "really.png").pixels[0], 200, 3);
  EXPECT_EQ(decode_picture(png, "really.jpg").pixels[0], 7);
  EXPECT_EQ(read_picture_header(jpeg, "x").shape, (ImageShape{3, 4, 6}));
  EXPECT_EQ(read_picture_header(png, "x").shape, (ImageShape{3, 4, 6}));
}

TEST(PictureTest, OtherKindsAreNamed) {
  expect_error(
      [] {
        decode_picture(to_bytes({'G', 'I', 'F', '8', '9', 'a'}), "x.jpg");
      },
      ErrorCode::data, {"x.jpg is a GIF picture", "convert"});
  expect_error(
      [] {
        decode_picture(to_bytes({'h', 'e', 'l', 'l', 'o'}), "x.jpg");
      },
      ErrorCode::data, {"x.jpg is no picture"});
  expect_error([] { read_picture_header({}, "x.jpg"); }, ErrorCode::data, {"x.jpg is empty"});
}

TEST(PictureTest, OrientationsAreReportedAndNotApplied) {
  const test::Bytes plain = test::noisy_jpeg(12, 8);
  EXPECT_EQ(exif_orientation(plain), 1);
  for (const char order : {'M', 'I'}) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const test::Bytes turned = test::with_orientation(plain, orientation, order);
      EXPECT_EQ(exif_orientation(turned), orientation) << order;
      EXPECT_EQ(read_picture_header(turned, "x").turned, orientation != 1);
      EXPECT_EQ(decode_picture(turned, "x").pixels, decode_picture(plain, "x").pixels);
    }
  }
  EXPECT_EQ(exif_orientation(test::with_orientation(plain, 99)), 1);
}

TEST(PictureTest, CutOrientationsAreNone) {
  const test::Bytes turned = test::with_orientation(test::flat_jpeg(8, 8, {1}), 6);
  for (std::size_t size = 0; size < 38; ++size) {
    EXPECT_EQ(exif_orientation(std::span(turned).first(size)), 1) << size;
  }
}

// What Pillow's convert("L") gives: 19595, 38470 and 7471 65536ths, rounded.
TEST(PictureTest, GreyIsPillows) {
  const Image rgb{{3, 1, 5}, {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 9, 9, 9}};
  const Image found = grey(rgb);
  EXPECT_EQ(found.shape, (ImageShape{1, 1, 5}));
  EXPECT_EQ(found.pixels, (std::vector<std::uint8_t>{76, 150, 29, 255, 9}));
}

}  // namespace
}  // namespace bitcycle
