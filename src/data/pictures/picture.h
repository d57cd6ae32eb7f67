#pragma once

// A picture file by its content, whatever its name: JPEG and PNG are read, others are known by
// name. What a file decodes to is a function of its bytes alone.

#include "bitcycle/data/dataset.h"

#include <cstddef>
#include <span>
#include <string>

namespace bitcycle {

// "JPEG", "PNG", "GIF", ...; "" for what is no picture that we know.
std::string picture_format(std::span<const std::byte> bytes);
bool is_read(const std::string& format);

// What the start of a file says. The shape is as stored: an orientation is not applied.
struct PictureHeader {
  ImageShape shape;
  bool turned = false;  // whether it has an EXIF orientation other than upright
};

// Both throw Error(data) naming `origin` when the file is no JPEG or PNG picture, damaged, empty
// (0 x 0) or too large (kMostPixels).
PictureHeader read_picture_header(std::span<const std::byte> bytes, const std::string& origin);
Image decode_picture(std::span<const std::byte> bytes, const std::string& origin);

// An RGB picture in one channel, byte for byte as Pillow's convert("L") weighs the colours.
Image grey(const Image& rgb);

}  // namespace bitcycle
