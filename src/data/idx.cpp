#include "data/idx.h"

#include "bitcycle/base/memory.h"

#include "data/damage.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr std::uint32_t kByteElements = 0x0800;

std::uint32_t big_endian(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (std::byte b : bytes.first(4)) value = value << 8 | std::to_integer<std::uint32_t>(b);
  return value;
}

const std::uint8_t* as_numbers(std::span<const std::byte> bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

// The product of the dimensions, or more than any file has bytes.
std::uint64_t element_count(std::span<const std::uint32_t> dimensions) {
  constexpr std::uint64_t kTooMany = std::numeric_limits<std::int64_t>::max();
  std::uint64_t count = 1;
  for (std::uint64_t d : dimensions) {
    if (d != 0 && count > kTooMany / d) return kTooMany;
    count *= d;
  }
  return count;
}

void require_labels(std::span<const std::byte> labels, int classes, const std::string& origin) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const int label = std::to_integer<int>(labels[i]);
    if (label < classes) continue;
    throw damaged(origin, fmt::format("labels from 0 to {}", classes - 1),
                  fmt::format("{} for sample {}", label, i));
  }
}

}  // namespace

IdxArray decode_idx(std::span<const std::byte> bytes, int dimensions, const std::string& origin) {
  const auto count = static_cast<std::size_t>(dimensions);
  const std::uint32_t magic = kByteElements | static_cast<std::uint32_t>(dimensions);
  const std::size_t header = 4 + 4 * count;
  if (bytes.size() < header) {
    throw damaged(origin, fmt::format("an IDX header of {} bytes", header),
                  fmt::format("{} bytes in all", bytes.size()));
  }
  if (big_endian(bytes) != magic) {
    throw damaged(origin,
                  fmt::format("{:#010x} (bytes in {} dimensions) at its start", magic, dimensions),
                  fmt::format("{:#010x}", big_endian(bytes)));
  }
  IdxArray array;
  for (std::size_t i = 1; i <= count; ++i) {
    array.dimensions.push_back(big_endian(bytes.subspan(4 * i)));
  }
  array.elements = bytes.subspan(header);
  if (array.elements.size() != element_count(array.dimensions)) {
    throw damaged(origin,
                  fmt::format("{} bytes ({}) after the header", element_count(array.dimensions),
                              fmt::join(array.dimensions, " x ")),
                  fmt::format("{}", array.elements.size()));
  }
  return array;
}

PackedImages decode_idx_images(const IdxSource& images, const IdxSource& labels, int classes) {
  const IdxArray pixels = decode_idx(images.bytes, 3, images.origin);
  const IdxArray kinds = decode_idx(labels.bytes, 1, labels.origin);
  const std::vector<std::uint32_t>& d = pixels.dimensions;
  if (d[0] == 0) throw damaged(images.origin, "at least one picture", "none");
  if (d[0] != kinds.dimensions[0]) {
    throw damaged(labels.origin, fmt::format("{} labels, one a picture of {}", d[0], images.origin),
                  fmt::format("{}", kinds.dimensions[0]));
  }
  constexpr std::uint32_t kLongestSide = 65'535;
  if (std::min(d[1], d[2]) == 0 || std::max(d[1], d[2]) > kLongestSide) {
    throw damaged(images.origin, fmt::format("pictures of 1 to {} pixels a side", kLongestSide),
                  fmt::format("{} x {}", d[1], d[2]));
  }
  require_memory(pixels.elements.size(), "keeping the pictures of " + images.origin);
  require_labels(kinds.elements, classes, labels.origin);
  const std::uint8_t* pixel = as_numbers(pixels.elements);
  const std::uint8_t* label = as_numbers(kinds.elements);
  return {{1, static_cast<int>(d[1]), static_cast<int>(d[2])},
          classes,
          {pixel, pixel + pixels.elements.size()},
          {label, label + kinds.elements.size()}};
}

}  // namespace bitcycle
