#pragma once

// The DONE marker of a checkpoint: a line `crc32 size name` a file, and a last line `DONE crc32`
// over the lines before it, so that damage to the marker itself is noticed as well.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

struct FileSeal {
  std::uint64_t size = 0;
  std::uint32_t crc = 0;

  bool operator==(const FileSeal&) const = default;
};

using Manifest = std::map<std::string, FileSeal>;

FileSeal seal(std::span<const std::byte> bytes);

std::string encode_manifest(const Manifest& manifest);

// Throws Error(checkpoint) that names `origin` when the text is not exactly a manifest. File names
// are plain: no path leads out of the checkpoint.
Manifest decode_manifest(std::string_view text, const std::string& origin);

}  // namespace bitcycle
