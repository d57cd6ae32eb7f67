#pragma once

// Contours of a surface by marching squares (Lorensen and Cline's cubes in the plane): along the
// sides of a cell the surface is taken for linear, so that a contour is exact to the second order
// of the grid's distance. Where both diagonals of a cell disagree, the mean of its corners decides.
// A value that is not finite is higher than every level.

#include "bitcycle/landscape/surface.h"

#include <vector>

namespace bitcycle {

struct PlanePoint {
  double x = 0, y = 0;  // alpha, beta
  bool operator==(const PlanePoint&) const = default;
};

// Lower values lie on the left. A closed one ends in the point that it begins with.
using ContourLine = std::vector<PlanePoint>;

// Where the surface has a value: closed lines, and lines from edge to edge of the square.
std::vector<ContourLine> contour_lines(const Surface& surface, double level);

// The outline of {value < level} within the square: closed lines only, some of them along its edge.
// Holes are lines that turn the other way.
std::vector<ContourLine> outline_below(const Surface& surface, double level);

// The area of {value < level}, within the square; in units of alpha x beta.
double area_below(const Surface& surface, double level);
// Whether that set is cut off by the edge of the square, so that its area is larger in truth.
bool reaches_edge(const Surface& surface, double level);

// From `first` on in steps, all below `end`; the papers' are 0.1, 0.6, 1.1, ... below 10.
struct LevelRange {
  double first = 0.1, step = 0.5, end = 10;
};
std::vector<double> levels_of(const LevelRange& range);

}  // namespace bitcycle
