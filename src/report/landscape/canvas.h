#pragma once

// What a picture is drawn on, in units of one pixel of a screen, y downward. SVG and PNG pictures
// are drawn by the same strokes.

#include "bitcycle/landscape/contour.h"

#include <string>
#include <vector>

namespace bitcycle {

struct Colour {
  int red = 0, green = 0, blue = 0;
};

enum class TextAnchor { start, middle, end };

struct TextStyle {
  double size = 12;  // height of the letters
  TextAnchor anchor = TextAnchor::start;
  double angle = 0;  // in radians, counter-clockwise, about the anchor
  bool bold = false;
  Colour colour = {};
};

class Canvas {
 public:
  virtual ~Canvas() = default;
  // Closed lines; what an even number of them encloses is left out.
  virtual void fill(const std::vector<ContourLine>& outlines, Colour colour) = 0;
  virtual void stroke(const ContourLine& line, Colour colour, double width) = 0;
  // The baseline of the text goes through `at`.
  virtual void write(const PlanePoint& at, const std::string& text, const TextStyle& style) = 0;
};

}  // namespace bitcycle
