#pragma once

// Cutting and resizing 8-bit pictures. Resizing is bilinear with antialiasing, byte for byte what
// Pillow's BILINEAR gives, because that is what the papers' ImageNet pipeline used.

#include "bitcycle/data/dataset.h"

namespace bitcycle {

// A rectangle of a picture, in pixels.
struct Window {
  int top = 0;
  int left = 0;
  int height = 0;
  int width = 0;
};

// The window must lie in the image.
Image cut(const Image& image, const Window& window);

Image resize(const Image& image, int height, int width);

}  // namespace bitcycle
