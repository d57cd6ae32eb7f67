#pragma once

// A number at every point of a square around trained weights: theta + alpha delta + beta eta with
// alpha and beta from -range to range. What is drawn, contoured and measured as a loss landscape.

#include <cstddef>
#include <vector>

namespace bitcycle {

struct PlaneGrid {
  int points = 51;   // along each side; odd, so that the middle one is the trained weights
  double range = 1;  // alpha and beta go from -range to range

  // Exactly 0 in the middle, and opposite points are exactly opposite.
  double at(int index) const { return range * (2 * index - (points - 1)) / (points - 1); }
  std::size_t size() const { return static_cast<std::size_t>(points) * points; }
  bool operator==(const PlaneGrid&) const = default;
};

struct Surface {
  PlaneGrid grid;
  std::vector<double> values;  // alpha runs fastest: of (alpha_i, beta_j) at j * points + i

  double at(int alpha, int beta) const {
    return values[static_cast<std::size_t>(beta) * grid.points + alpha];
  }
  double centre() const { return values[values.size() / 2]; }
};

// Over the values that are finite; 0 and 0 where none is.
struct ValueRange {
  double least = 0, most = 0;
};
ValueRange value_range(const Surface& surface);

}  // namespace bitcycle
