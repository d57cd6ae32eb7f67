#pragma once

// How large a picture may be. A header can claim 65,535 x 65,535 pixels in a file of a few bytes;
// beyond this it is taken for damage, not memory for it.

#include "data/damage.h"

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace bitcycle {

inline constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;

inline void require_picture_size(std::int64_t width, std::int64_t height,
                                 const std::string& origin) {
  if (width > 0 && height > 0 && width <= kMostPixels / height) return;
  throw damaged(origin, fmt::format("a picture of 1 to {} pixels", kMostPixels),
                fmt::format("one of {} x {}", width, height));
}

}  // namespace bitcycle
