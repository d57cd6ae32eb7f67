#pragma once

// MD5 sums, which is what the datasets' publishers give: they tell a damaged copy from a good one,
// and are no protection against malice. `MD5SUMS` files are those that md5sum(1) writes and checks.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace bitcycle {

// 32 lower-case hexadecimal digits.
std::string md5(std::span<const std::byte> bytes);

// The sum that a person wrote, in capitals or not; nothing when it is none.
std::optional<std::string> parse_md5(std::string_view text);

// File name -> sum.
using Checksums = std::unordered_map<std::string, std::string>;

// Reads lines "<sum>  <name>" or "<sum> *<name>". Throws Error(data) naming origin and line.
Checksums parse_checksums(std::string_view text, const std::string& origin);

}  // namespace bitcycle
