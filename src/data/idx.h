#pragma once

// The IDX format of MNIST and Fashion-MNIST: two zero bytes, the element type, the number of
// dimensions, each dimension in 32 bits (big end first), then the elements, row by row.

#include "data/memory_dataset.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bitcycle {

struct IdxArray {
  std::vector<std::uint32_t> dimensions;
  std::span<const std::byte> elements;  // bytes; points into what was decoded
};

// Decodes an array of bytes with so many dimensions. Throws Error(data) naming `origin`.
IdxArray decode_idx(std::span<const std::byte> bytes, int dimensions, const std::string& origin);

struct IdxSource {
  std::span<const std::byte> bytes;
  std::string origin;
};

// Pictures (count x height x width) and their labels, which must agree in number.
PackedImages decode_idx_images(const IdxSource& images, const IdxSource& labels, int classes);

}  // namespace bitcycle
