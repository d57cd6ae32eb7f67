#pragma once

// What a camera noted of how it was held. Bitcycle only reports it: torchvision's ImageFolder and
// Pillow's open() leave pictures as they are stored, and so do we.

#include <cstddef>
#include <span>

namespace bitcycle {

// The EXIF orientation of a JPEG file: 1 is upright, 2 to 8 are turned or mirrored. 1 where there
// is none, or what there is makes no sense.
int exif_orientation(std::span<const std::byte> jpeg);

}  // namespace bitcycle
