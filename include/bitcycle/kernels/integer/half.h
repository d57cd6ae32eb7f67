#pragma once

// Half precision (IEEE binary16) as a storage format: convolution outputs and errors are kept in it
// and computed on in float. The vector kernels use the processor's conversions; these two functions
// are the same conversions (round to nearest even) in plain C++.

#include <bit>
#include <cstdint>

namespace bitcycle::integer {

// The 16 bits of a half, kept apart from std::uint16_t by name only.
struct Half {
  std::uint16_t bits = 0;
};

constexpr float to_float(Half h) {
  const std::uint32_t sign = (h.bits & 0x8000U) << 16;
  const std::uint32_t magnitude = h.bits & 0x7fffU;
  if (magnitude >= 0x7c00U) {  // infinity, or a NaN (made quiet)
    const std::uint32_t quiet = magnitude > 0x7c00U ? 0x400000U : 0U;
    return std::bit_cast<float>(sign | quiet | (magnitude << 13) | 0x7f800000U);
  }
  // Multiplying by 2^112 moves the exponent bias from 15 to 127 and normalizes subnormals.
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

constexpr Half to_half(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const auto half = [sign](std::uint32_t m) { return Half{static_cast<std::uint16_t>(sign | m)}; };
  if (magnitude > 0x7f800000U) return half(0x7e00U | ((magnitude >> 13) & 0x3ffU));
  if (magnitude >= 0x477ff000U) return half(0x7c00U);  // rounds to 2^16 or above
  if (magnitude < 0x38800000U) {
    // Below the normal range: adding 1/2 shifts the value's grid to the half's subnormal grid.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return half(std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U);
  }
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  return half((magnitude - 0x38000000U + 0xfffU + odd) >> 13);
}

}  // namespace bitcycle::integer
