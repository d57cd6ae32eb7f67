#pragma once

// A landscape with known values.

#include "bitcycle/landscape/landscape.h"

#include "landscape/surfaces.h"

#include <limits>

namespace bitcycle {

inline LandscapeSubject made_up_subject(int points = 5) {
  return {.step = 640,
          .fingerprint = "0123456789abcdef",
          .settings = {.bits = "8", .grid = {points, 1}, .samples = 64, .seed = 123}};
}

// A bowl, whose first point is not finite.
inline Landscape made_up_landscape(int points = 5) {
  Landscape landscape{made_up_subject(points), 64, "samples", {"accuracy", "loss"}, {}};
  for (const double loss : bowl({points, 1}).values) {
    landscape.points.push_back({100 / (1 + loss), loss / 3});
  }
  landscape.points[0][1] = std::numeric_limits<double>::quiet_NaN();
  return landscape;
}

}  // namespace bitcycle
