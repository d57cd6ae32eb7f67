#pragma once

// Surfaces whose contours and areas are known.

#include "bitcycle/landscape/surface.h"

#include <functional>

namespace bitcycle {

inline Surface surface_of(const PlaneGrid& grid, const std::function<double(double, double)>& f) {
  Surface surface{grid, {}};
  for (int j = 0; j < grid.points; ++j) {
    for (int i = 0; i < grid.points; ++i) {
      surface.values.push_back(f(grid.at(i), grid.at(j)));
    }
  }
  return surface;
}

// The square of the distance from a point.
inline Surface bowl(const PlaneGrid& grid = {}, double x = 0, double y = 0) {
  return surface_of(grid,
                    [=](double a, double b) { return (a - x) * (a - x) + (b - y) * (b - y); });
}

}  // namespace bitcycle
