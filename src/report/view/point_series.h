#pragma once

// A curve of a page, as points. Runs may have logged more of them than a screen has columns, so a
// series is thinned before it is handed over: what is left has the same first and last point, and
// in each stretch of steps the lowest and the highest, so that no peak is lost.

#include <cstddef>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle {

struct PointSeries {
  std::vector<double> x, y;  // x ascending; a y that is not finite is a gap
  std::size_t of = 0;        // how many points there were before thinning; 0 where all are here

  void add(double at, double value);
  bool empty() const { return x.empty(); }
};

// At most `points` of them (at least 4), all where there are no more.
PointSeries thinned(const PointSeries& series, std::size_t points);
// The points at which a step function changes, and the last one: the same curve. Thinned where
// those are too many.
PointSeries changes_of(const PointSeries& series, std::size_t points);

// {"x": [...], "y": [...]}, gaps as null, y with the seven digits that a reader may want; with "of"
// where the series has been thinned.
nlohmann::ordered_json to_json(const PointSeries& series);

// A number with so many significant digits; null where it is not finite.
nlohmann::ordered_json rounded(double value, int digits = 7);

}  // namespace bitcycle
