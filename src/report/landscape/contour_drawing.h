#pragma once

// The contours of a surface as they are drawn: cut open where their labels stand. Labels are placed
// where a line is straight and long enough, away from other lines, other labels and the edge; a
// line without such a place has none.

#include "bitcycle/landscape/contour.h"

#include <string>
#include <vector>

namespace bitcycle {

struct ContourLabel {
  PlanePoint place;  // its middle
  double angle = 0;  // in radians, counter-clockwise; never upside down
  std::string text;
};

struct DrawnContour {
  double level = 0;
  std::vector<ContourLine> pieces;
  std::vector<ContourLabel> labels;
};

// A square of `side` units of the picture, in letters of `letter` units; what comes back is in
// alpha and beta. Levels that the surface does not have are left out.
std::vector<DrawnContour> draw_contours(const Surface& surface, const std::vector<double>& levels,
                                        double side, double letter);

// Those that one of the surfaces crosses.
std::vector<double> crossed_levels(const std::vector<const Surface*>& surfaces,
                                   const std::vector<double>& levels);

}  // namespace bitcycle
