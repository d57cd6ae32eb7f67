#include "data/resample.h"

#include "data/checksum.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

// (37 y + 91 x + 53 c + 7 y x) mod 256.
Image pattern(int height, int width, int channels) {
  Image image{{channels, height, width}, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        image.pixels.push_back(static_cast<std::uint8_t>(37 * y + 91 * x + 53 * c + 7 * y * x));
      }
    }
  }
  return image;
}

std::string sum(const Image& image) {
  return md5(std::as_bytes(std::span(image.pixels)));
}

// Values of Pillow 9.4: Image.fromarray(pattern).resize((width, height), Image.BILINEAR).
TEST(ResampleTest, ShrinksAndEnlargesLikePillow) {
  EXPECT_EQ(resize(pattern(7, 11, 1), 3, 4).pixels,
            (std::vector<std::uint8_t>{106, 121, 120, 148, 127, 136, 124, 152, 133, 150, 135, 99}));
  EXPECT_EQ(resize(pattern(4, 5, 1), 7, 6).pixels,
            (std::vector<std::uint8_t>{0,   68,  144, 113, 40,  108, 13,  83,  161, 132, 61,
                                       131, 34,  108, 189, 163, 96,  168, 56,  132, 142, 120,
                                       130, 206, 77,  156, 94,  76,  159, 224, 98,  180, 122,
                                       107, 156, 115, 111, 195, 139, 126, 155, 47}));
  EXPECT_EQ(sum(resize(pattern(67, 101, 3), 48, 64)), "4c0dab2a6284726bb7f64f9a5f42f14c");
  EXPECT_EQ(sum(resize(pattern(30, 20, 3), 224, 224)), "c86c37d06e3d105c55885d17e7dc6e5a");
  EXPECT_EQ(sum(resize(pattern(375, 500, 3), 256, 341)), "ebab532ce5ec545d52be2af3aa0ba9bd");
}

TEST(ResampleTest, FlatPicturesStayFlat) {
  const Image flat{{3, 50, 40}, std::vector<std::uint8_t>(50 * 40 * 3, 137)};
  for (std::uint8_t value : resize(flat, 17, 91).pixels) EXPECT_EQ(value, 137);
}

TEST(ResampleTest, HalvingAveragesUnderATriangle) {
  // Weights 1 3 3 1 over 8, cut off and normalised at the ends.
  const Image row{{1, 1, 8}, {0, 0, 0, 80, 80, 0, 0, 0}};
  EXPECT_EQ(resize(row, 1, 4).pixels, (std::vector<std::uint8_t>{0, 40, 40, 0}));
}

TEST(ResampleTest, CutTakesTheWindow) {
  const Image image = pattern(6, 5, 3);
  const Image part = cut(image, {2, 1, 3, 2});
  EXPECT_EQ(part.shape, (ImageShape{3, 3, 2}));
  for (int y = 0; y < 3; ++y) {
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(part.pixels[static_cast<std::size_t>(6 * y + i)],
                image.pixels[static_cast<std::size_t>(((y + 2) * 5 + 1) * 3 + i)]);
    }
  }
}

}  // namespace
}  // namespace bitcycle
