#pragma once

#include "report/landscape/canvas.h"

#include <cstddef>
#include <memory>

namespace bitcycle {

// Drawn by Anti-Grain Geometry, two pixels to a unit, with the letters that come with it: a picture
// looks the same wherever it is made, whatever fonts there are. They are ASCII.
class PngCanvas : public Canvas {
 public:
  PngCanvas(double width, double height);
  ~PngCanvas() override;

  void fill(const std::vector<ContourLine>& outlines, Colour colour) override;
  void stroke(const ContourLine& line, Colour colour, double width) override;
  void write(const PlanePoint& at, const std::string& text, const TextStyle& style) override;

  // The file. Throws Error(memory) where libpng finds no memory.
  std::vector<std::byte> finish() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace bitcycle
