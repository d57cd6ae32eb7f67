#pragma once

// Expands gzip files in memory. The format carries a CRC and the length, so damage is always found.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bitcycle {

// Throws Error(data) naming `origin` when the bytes are truncated, damaged or followed by others.
std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& origin);

}  // namespace bitcycle
