#pragma once

// Loss landscapes as contour pictures: one or several side by side on the same axes, with the same
// levels in the same colours. alpha goes to the right and beta upward.

#include "bitcycle/landscape/surface.h"

#include <cstddef>
#include <string>
#include <vector>

namespace bitcycle {

struct LandscapePanel {
  std::string title, caption;
  Surface loss;
};

struct LandscapePicture {
  std::vector<double> levels;  // of the contours, ascending
  std::vector<LandscapePanel> panels;
};

std::string to_svg(const LandscapePicture& picture);
// Letters that are not ASCII become "?" in it.
std::vector<std::byte> to_png(const LandscapePicture& picture);

}  // namespace bitcycle
