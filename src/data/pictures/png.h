#pragma once

// PNG pictures, decoded with libpng to 8-bit RGB: palettes and grey become three channels, 16 bits
// the nearest of 8, interlaced pictures whole ones. Transparency is dropped, and gamma and colour
// profiles are not looked at, as Pillow's convert("RGB") does it.

#include "bitcycle/data/dataset.h"

#include <cstddef>
#include <span>
#include <string>

namespace bitcycle {

// Throws Error(data) naming `origin`: damage, or more pixels than a picture may have.
Image decode_png(std::span<const std::byte> bytes, const std::string& origin);

// Width and height alone, from the start of a file; no pixels.
ImageShape read_png_shape(std::span<const std::byte> bytes, const std::string& origin);

}  // namespace bitcycle
