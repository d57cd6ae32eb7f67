#include "data/pictures/png.h"

#include "bitcycle/base/random.h"

#include "data/pictures.h"
#include "data/support.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using test::Bytes;
using test::expect_error;
using test::png;
using test::PngColour;
using Pixels = std::vector<std::uint8_t>;

Image decode(const Bytes& bytes) {
  return decode_png(bytes, "x.png");
}

Pixels noise(std::size_t count) {
  Pixels pixels;
  for (std::size_t i = 0; i < count; ++i) {
    pixels.push_back(static_cast<std::uint8_t>(RandomKey(3).bits(i)));
  }
  return pixels;
}

TEST(PngTest, ColourIsKeptToTheByte) {
  const Pixels pixels = noise(5 * 3 * 3);
  const Image image = decode(png({.width = 5, .height = 3}, pixels));
  EXPECT_EQ(image.shape, (ImageShape{3, 3, 5}));
  EXPECT_EQ(image.pixels, pixels);
}

TEST(PngTest, InterlacedPicturesAreTheSame) {
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(13, 11), std::pair(40, 33)}) {
    const Pixels pixels = noise(static_cast<std::size_t>(width * height * 3));
    const Image image = decode(png({.width = width, .height = height, .interlaced = true}, pixels));
    EXPECT_EQ(image.pixels, pixels) << width << " x " << height;
  }
}

TEST(PngTest, GreyOfEveryDepthBecomesThreeEqualChannels) {
  struct Case {
    int depth;
    Pixels row;     // two pixels: none and all of it, then half
    Pixels wanted;  // grey values
  };
  for (const Case& c : {Case{1, {0b01000000}, {0, 255}}, Case{2, {0b00100000}, {0, 170}},
                        Case{4, {0x0f}, {0, 255}}, Case{8, {7, 200}, {7, 200}}}) {
    const Image image =
        decode(png({.width = 2, .colour = PngColour::grey, .depth = c.depth}, c.row));
    const Pixels wanted = {c.wanted[0], c.wanted[0], c.wanted[0],
                           c.wanted[1], c.wanted[1], c.wanted[1]};
    EXPECT_EQ(image.pixels, wanted) << c.depth;
  }
}

// round(v * 255 / 65535), and not the upper byte alone.
TEST(PngTest, SixteenBitsBecomeTheNearestOfEight) {
  Pixels row;
  std::vector<int> wanted;
  for (int v = 0; v < 65536; v += 127) {
    row.push_back(static_cast<std::uint8_t>(v >> 8));
    row.push_back(static_cast<std::uint8_t>(v & 0xff));
    wanted.push_back(static_cast<int>(std::lround(v * 255.0 / 65535)));
  }
  ASSERT_EQ(wanted.size(), 47u * 11);
  const Image image =
      decode(png({.width = 47, .height = 11, .colour = PngColour::grey, .depth = 16}, row));
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    EXPECT_EQ(image.pixels[3 * at], wanted[at]) << at;
    EXPECT_EQ(image.pixels[3 * at + 2], wanted[at]) << at;
  }
}

TEST(PngTest, PalettesBecomeTheirColours) {
  const test::PngOptions options{.width = 4,
                                 .colour = PngColour::palette,
                                 .depth = 2,
                                 .palette = {1, 2, 3, 40, 50, 60, 255, 0, 255},
                                 .transparency = {0, 128}};
  EXPECT_EQ(decode(png(options, {0b00011000})).pixels,
            (Pixels{1, 2, 3, 40, 50, 60, 255, 0, 255, 1, 2, 3}));
}

TEST(PngTest, TransparencyIsDropped) {
  EXPECT_EQ(
      decode(png({.width = 2, .colour = PngColour::rgb_alpha}, {1, 2, 3, 0, 4, 5, 6, 99})).pixels,
      (Pixels{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(decode(png({.width = 2, .colour = PngColour::grey_alpha}, {9, 0, 8, 255})).pixels,
            (Pixels{9, 9, 9, 8, 8, 8}));
  EXPECT_EQ(
      decode(png({.colour = PngColour::rgb_alpha, .depth = 16}, {255, 255, 0, 0, 128, 128, 0, 0}))
          .pixels,
      (Pixels{255, 0, 128}));
}

TEST(PngTest, EveryCutIsDamage) {
  const Bytes whole = png({.width = 9, .height = 9}, noise(9 * 9 * 3));
  for (std::size_t size = 0; size < whole.size(); size += 3) {
    expect_error([&] { decode_png(std::span(whole).first(size), "x.png"); }, ErrorCode::data,
                 {"x.png is damaged", "a PNG picture"});
  }
}

TEST(PngTest, FlippedPixelsAreFoundByTheirSum) {
  const Bytes whole = png({.width = 9, .height = 9}, noise(9 * 9 * 3));
  const std::string mark = "IDAT";
  const Bytes wanted = [&] {
    const auto bytes = std::as_bytes(std::span(mark));
    return Bytes(bytes.begin(), bytes.end());
  }();
  const auto data = std::search(whole.begin(), whole.end(), wanted.begin(), wanted.end());
  ASSERT_NE(data, whole.end());
  for (std::ptrdiff_t i = 10; i < 200; i += 19) {
    Bytes flipped = whole;
    flipped[static_cast<std::size_t>(data - whole.begin() + i)] ^= std::byte{0x20};
    expect_error([&] { decode(flipped); }, ErrorCode::data, {"x.png is damaged"});
  }
}

TEST(PngTest, ASideIsAtMostSixtyFourTimesTheOther) {
  const auto black = [](int width) {
    const std::vector<std::uint8_t> rows(static_cast<std::size_t>(3 * width));
    return test::png({.width = width, .height = 1}, rows);
  };
  EXPECT_EQ(decode(black(64)).shape.width, 64);
  expect_error([&] { decode(black(65)); }, ErrorCode::data,
               {"none is more than 64 times the other", "65 x 1"});
}

TEST(PngTest, NoPixelsAndTooManyAreDamageNotMemory) {
  expect_error([] { decode(test::png_claiming(0, 0)); }, ErrorCode::data, {"x.png is damaged"});
  expect_error([] { decode(test::png_claiming(30'000, 30'000)); }, ErrorCode::data,
               {"1 to 134217728 pixels", "30000 x 30000"});
  expect_error([] { decode(test::png_claiming(0x7fffffff, 0x7fffffff)); }, ErrorCode::data,
               {"2147483647 x 2147483647"});
}

}  // namespace
}  // namespace bitcycle
