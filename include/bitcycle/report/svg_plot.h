#pragma once

// Line and step plots as SVG files that need nothing else: no script, no font, no style sheet.
// Colours follow the reader's light or dark setting, the background is left to the page.

#include <string>
#include <vector>

namespace bitcycle {

enum class LineStyle {
  line,    // points joined by straight, thin lines
  step,    // each value kept until the next point, drawn strongly
  dashed,  // a step plot for comparison
};

// Values at x = 0, 1, 2, ...
struct Series {
  std::string label;
  std::vector<double> values;
  LineStyle style = LineStyle::line;
};

struct SvgPlot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Series> series;  // at least one, none empty
};

std::string to_svg(const SvgPlot& plot);

}  // namespace bitcycle
