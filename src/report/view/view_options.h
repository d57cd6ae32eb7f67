#pragma once

#include <algorithm>
#include <cstddef>

namespace bitcycle {

// How much of a run a page gets, whatever its length.
struct ViewOptions {
  std::size_t points = 1200;  // of a curve
  std::size_t columns = 240;  // of a heat map
  bool sweeps = false;        // whether runs are told by the places that a sweep gives them
};

// Many runs are looked at together, and share what a page can carry.
inline ViewOptions options_for(std::size_t runs) {
  const ViewOptions one;
  const std::size_t points = one.points * 4 / (3 + std::max<std::size_t>(1, runs));
  return {.points = std::max<std::size_t>(160, points),
          .columns = runs > 4 ? 120 : one.columns,
          .sweeps = runs > 1};
}

}  // namespace bitcycle
