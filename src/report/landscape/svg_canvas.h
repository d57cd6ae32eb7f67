#pragma once

#include "report/landscape/canvas.h"

namespace bitcycle {

class SvgCanvas : public Canvas {
 public:
  // `label` tells those who cannot see the picture what it shows.
  SvgCanvas(double width, double height, const std::string& label);

  void fill(const std::vector<ContourLine>& outlines, Colour colour) override;
  void stroke(const ContourLine& line, Colour colour, double width) override;
  void write(const PlanePoint& at, const std::string& text, const TextStyle& style) override;

  std::string finish() const { return svg_ + "</svg>\n"; }

 private:
  std::string svg_;
};

}  // namespace bitcycle
