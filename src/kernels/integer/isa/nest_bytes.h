#pragma once

// 8-bit codes from 0 on to those of a narrower width (Note [Nested codes] in docs/numerics.md):
// round(q n / 255), which no q makes a tie of because 255 is odd. In 16-bit numbers it is
// (257 q / 2) n / 2^15, rounded to nearest as vpmulhrsw rounds; a test compares all q and n.

#include <cstddef>
#include <cstdint>

namespace bitcycle::integer {
namespace {

inline std::uint8_t nested_byte(std::uint8_t code, int largest) {
  return static_cast<std::uint8_t>(((((code * 257) >> 1) * largest >> 14) + 1) >> 1);
}

inline void nest_bytes(std::uint8_t* codes, std::ptrdiff_t count, int largest) {
  for (std::ptrdiff_t i = 0; i < count; ++i) codes[i] = nested_byte(codes[i], largest);
}

}  // namespace
}  // namespace bitcycle::integer
