#pragma once

// JPEG pictures, decoded with TurboJPEG to 8-bit RGB. A file that the decoder only warns about (cut
// short, broken codes) counts as damaged: half a grey picture must not be trained on.

#include "bitcycle/data/dataset.h"

#include <cstddef>
#include <span>
#include <string>

namespace bitcycle {

// Throws Error(data) naming `origin`. Grey pictures get three equal channels; CMYK is converted.
Image decode_jpeg(std::span<const std::byte> bytes, const std::string& origin);

// Width and height alone, from the start of a file; no pixels.
ImageShape read_jpeg_shape(std::span<const std::byte> bytes, const std::string& origin);

}  // namespace bitcycle
