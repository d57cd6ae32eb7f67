#pragma once

// Expands gzip files in memory. The format carries a CRC and the length, so damage is always found.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bitcycle {

// The size of the content as the file's end states it: that of content below 4 GiB (the format
// counts in 32 bits), if the file is whole and not several in one; of those it is the last's.
std::uint64_t stated_size(std::span<const std::byte> bytes);

// Throws Error(data) naming `origin` when the bytes are truncated, damaged or followed by others,
// or expand to more than `longest` bytes: a thousand bytes can claim to be a million.
std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& origin,
                              std::uint64_t longest);

// No further than the format can compress, which keeps the end of a truncated file from claiming
// gigabytes. Throws Error(memory) when there is too little.
std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& origin);

}  // namespace bitcycle
