#pragma once

// JPEG and PNG files for tests, encoded on the spot.

#include "data/support.h"

#include <cstdint>
#include <vector>

namespace bitcycle::test {

// 1 value: grey; 3: red, green, blue; 4: CMYK as Adobe stores it (255 is no ink).
Bytes flat_jpeg(int width, int height, const std::vector<std::uint8_t>& colour);
// A colour picture full of detail.
Bytes noisy_jpeg(int width, int height);
// The same file with an EXIF segment that names an orientation, in either order of bytes.
Bytes with_orientation(const Bytes& jpeg, int orientation, char order = 'M');

enum class PngColour { grey = 0, rgb = 2, palette = 3, grey_alpha = 4, rgb_alpha = 6 };
struct PngOptions {
  int width = 1, height = 1;
  PngColour colour = PngColour::rgb;
  int depth = 8;  // bits of a sample
  bool interlaced = false;
  std::vector<std::uint8_t> palette = {};       // red, green, blue of each entry
  std::vector<std::uint8_t> transparency = {};  // content of tRNS
};
// `rows` holds the packed bytes of every row, as PNG stores them without a filter.
Bytes png(const PngOptions& options, const std::vector<std::uint8_t>& rows);
// A PNG header that claims this size, and no pixels behind it.
Bytes png_claiming(std::uint32_t width, std::uint32_t height);

}  // namespace bitcycle::test
