#include "data/pictures/exif.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bitcycle {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kExif("Exif\0\0", 6);

// The TIFF structure inside: its first two bytes say which end of a number comes first.
class Tiff {
 public:
  explicit Tiff(Bytes bytes) : bytes_(bytes), little_(byte(0) == 'I') {}

  std::optional<std::uint32_t> number(std::size_t at, std::size_t size) const {
    if (at + size > bytes_.size()) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8 | byte(little_ ? at + size - 1 - i : at + i);
    }
    return value;
  }

 private:
  std::uint32_t byte(std::size_t at) const {
    return at < bytes_.size() ? std::to_integer<std::uint32_t>(bytes_[at]) : 0;
  }
  Bytes bytes_;
  bool little_;
};

int orientation_of(const Tiff& tiff) {
  constexpr std::size_t kEntry = 12;
  constexpr std::uint32_t kOrientation = 0x0112;
  const std::size_t directory = tiff.number(4, 4).value_or(0);
  const std::size_t entries = tiff.number(directory, 2).value_or(0);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntry;
    const auto tag = tiff.number(entry, 2);
    if (!tag) return 1;
    if (*tag != kOrientation) continue;
    const std::uint32_t value = tiff.number(entry + 8, 2).value_or(1);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

bool begins_with(Bytes bytes, std::string_view text) {
  const Bytes wanted = std::as_bytes(std::span(text));
  return bytes.size() >= wanted.size() && std::ranges::equal(bytes.first(wanted.size()), wanted);
}

}  // namespace

// Segments before the pixels: 0xff, a marker, and a length of two bytes that counts itself.
int exif_orientation(Bytes jpeg) {
  constexpr std::uint32_t kApp1 = 0xe1, kStartOfScan = 0xda;
  const auto byte = [&](std::size_t at) { return std::to_integer<std::uint32_t>(jpeg[at]); };
  std::size_t at = 2;
  while (at + 4 <= jpeg.size() && byte(at) == 0xff && byte(at + 1) != kStartOfScan) {
    const std::size_t length = byte(at + 2) << 8 | byte(at + 3);
    if (length < 2 || at + 2 + length > jpeg.size()) return 1;
    const Bytes content = jpeg.subspan(at + 4, length - 2);
    if (byte(at + 1) == kApp1 && begins_with(content, kExif)) {
      return orientation_of(Tiff(content.subspan(kExif.size())));
    }
    at += 2 + length;
  }
  return 1;
}

}  // namespace bitcycle
