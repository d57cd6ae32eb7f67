#pragma once

// How large a picture may be. A header can claim 65,535 x 65,535 pixels in a file of a few bytes;
// beyond this it is taken for damage, not memory for it.

#include "data/damage.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace bitcycle {

inline constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;
// Pictures are scaled by their shorter side: 100,000 x 1 pixels would become millions.
inline constexpr std::int64_t kLongestShape = 64;

inline void require_picture_size(std::int64_t width, std::int64_t height,
                                 const std::string& origin) {
  const std::string found = fmt::format("one of {} x {}", width, height);
  if (width < 1 || height < 1 || width > kMostPixels / height) {
    throw damaged(origin, fmt::format("a picture of 1 to {} pixels", kMostPixels), found);
  }
  if (std::max(width, height) <= kLongestShape * std::min(width, height)) return;
  throw damaged(origin,
                fmt::format("sides of which none is more than {} times the other", kLongestShape),
                found);
}

}  // namespace bitcycle
