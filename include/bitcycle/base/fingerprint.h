#pragma once

// A short name for content, to tell whether something is still what it was: a recipe, a dataset.
// What goes in, and in which order, decides it; so do the lengths, which keeps ("ab", "c") apart
// from ("a", "bc"). It finds accidents, not forgeries.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bitcycle {

class Fingerprint {
 public:
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text);
  void add(std::int64_t number);

  // 16 hexadecimal digits.
  std::string text() const;

 private:
  std::uint64_t value_ = 0;
};

}  // namespace bitcycle
