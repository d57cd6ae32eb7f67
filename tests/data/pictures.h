#pragma once

// JPEG files for tests, encoded on the spot.

#include "data/support.h"

#include <cstdint>
#include <vector>

namespace bitcycle::test {

// 1 value: grey; 3: red, green, blue; 4: CMYK as Adobe stores it (255 is no ink).
Bytes flat_jpeg(int width, int height, const std::vector<std::uint8_t>& colour);
// A colour picture full of detail.
Bytes noisy_jpeg(int width, int height);

}  // namespace bitcycle::test
