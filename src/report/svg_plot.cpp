#include "bitcycle/report/svg_plot.h"

#include "report/xml_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace bitcycle {
namespace {

// The canvas and the frame of the plot in it, in SVG units.
constexpr double kWidth = 720, kHeight = 300;
constexpr double kLeft = 56, kRight = 700, kTop = 48, kBottom = 252;

constexpr const char* kStyle = R"(<style>
  text { font: 13px system-ui, sans-serif; fill: #57606a; }
  .title { font-size: 15px; font-weight: 600; fill: #1f2328; }
  .grid { stroke: #d0d7de; stroke-width: 1; }
  path { fill: none; stroke-linejoin: round; }
  .s0 { stroke: #0969da; } .s1 { stroke: #bc4c00; } .s2 { stroke: #1a7f37; } .s3 { stroke: #8250df; }
  .line { stroke-width: 1.25; opacity: .75; }
  .step { stroke-width: 2.25; }
  .dashed { stroke-width: 1.75; stroke-dasharray: 6 4; }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1; } .title { fill: #f0f6fc; } .grid { stroke: #3d444d; }
    .s0 { stroke: #4493f8; } .s1 { stroke: #f0883e; } .s2 { stroke: #3fb950; } .s3 { stroke: #ab7df8; }
  }
</style>
)";
constexpr std::size_t kColours = 4;

struct Point {
  double x, y;
};

const char* css_class(LineStyle style) {
  switch (style) {
    case LineStyle::line:
      return "line";
    case LineStyle::step:
      return "step";
    case LineStyle::dashed:
      return "dashed";
  }
  return "";
}

// A distance of 1, 2 or 5 times a power of ten that cuts `range` into at most `parts`.
double tick_distance(double range, int parts) {
  const double power = std::pow(10, std::floor(std::log10(range / parts)));
  for (double factor : {1., 2., 5.}) {
    if (range / (factor * power) <= parts) return factor * power;
  }
  return 10 * power;
}

// A range of values and the stretch of the canvas it is drawn on.
struct Scale {
  double low, high;   // values
  double begin, end;  // canvas
  double ticks;       // distance between marks

  double operator()(double value) const {
    return begin + (value - low) / (high - low) * (end - begin);
  }
};

Scale x_scale(const SvgPlot& plot) {
  std::size_t most = 1;
  for (const Series& series : plot.series) most = std::max(most, series.values.size());
  const double high = static_cast<double>(most);  // the last value is kept to its end
  return {0, high, kLeft, kRight, std::max(1., tick_distance(high, 8))};
}

Scale y_scale(const SvgPlot& plot) {
  double low = plot.series.front().values.front(), high = low;
  for (const Series& series : plot.series) {
    const auto [min, max] = std::minmax_element(series.values.begin(), series.values.end());
    low = std::min(low, *min);
    high = std::max(high, *max);
  }
  if (low == high) low -= 3, high += 3;  // a constant: in the middle, between whole marks
  const double margin = 0.08 * (high - low);
  return {low - margin, high + margin, kBottom, kTop, tick_distance(high - low, 8)};
}

std::string grid(const Scale& x, const Scale& y) {
  std::string svg;
  for (double v = std::ceil(y.low / y.ticks) * y.ticks; v <= y.high; v += y.ticks) {
    svg += fmt::format(R"(<path class="grid" d="M{} {:.1f}H{}"/>)", kLeft, y(v), kRight);
    svg += fmt::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{:.6g}</text>)", kLeft - 8,
                       y(v) + 4, v);
    svg += '\n';
  }
  for (double v = 0; v <= x.high; v += x.ticks) {
    svg += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{:.6g}</text>)", x(v),
                       kBottom + 18, v);
    svg += '\n';
  }
  return svg;
}

// The corners of a series. Points closer than half a unit to the last one drawn cannot be seen
// apart and are left out, which keeps a run of any length to a small file.
std::vector<Point> corners(const Series& series, const Scale& x, const Scale& y) {
  std::vector<Point> points;
  const auto add = [&](double px, double py) {
    const bool near = !points.empty() && std::abs(points.back().x - px) < 0.5 &&
                      std::abs(points.back().y - py) < 0.5;
    if (!near) points.push_back({px, py});
  };
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const double at = static_cast<double>(i);
    const bool steps = series.style != LineStyle::line;
    if (steps && i > 0 && series.values[i] == series.values[i - 1]) continue;
    if (steps && i > 0) add(x(at), y(series.values[i - 1]));
    add(x(at), y(series.values[i]));
  }
  if (series.style != LineStyle::line) {
    points.push_back({x(static_cast<double>(series.values.size())), y(series.values.back())});
  }
  return points;
}

std::string curve(const Series& series, std::size_t index, const Scale& x, const Scale& y) {
  std::string svg =
      fmt::format(R"(<path class="s{} {}" d=")", index % kColours, css_class(series.style));
  char command = 'M';
  for (const Point& point : corners(series, x, y)) {
    svg += fmt::format("{}{:.1f} {:.1f}", command, point.x, point.y);
    command = 'L';
  }
  return svg + "\"/>\n";
}

// Labels of the series, right-aligned on the line of the title.
std::string legend(const SvgPlot& plot) {
  constexpr double kLetter = 7.2, kSwatch = 22, kGap = 18;
  std::string svg;
  double right = kRight;
  for (std::size_t i = plot.series.size(); i-- > 0;) {
    const Series& series = plot.series[i];
    const double left = right - kLetter * static_cast<double>(series.label.size());
    svg += fmt::format(R"(<path class="s{} {}" d="M{:.1f} 24h{}"/>)", i % kColours,
                       css_class(series.style), left - kSwatch - 6, kSwatch);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"28\">{}</text>\n", left, escaped(series.label));
    right = left - kSwatch - 6 - kGap;
  }
  return svg;
}

}  // namespace

std::string to_svg(const SvgPlot& plot) {
  const Scale x = x_scale(plot), y = y_scale(plot);
  const std::string title = escaped(plot.title);
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" role="img" aria-label="{}">)",
      kWidth, kHeight, title);
  svg += '\n';
  svg += kStyle;
  svg += fmt::format("<text class=\"title\" x=\"{}\" y=\"28\">{}</text>\n", kLeft, title);
  svg += legend(plot);
  svg += grid(x, y);
  for (std::size_t i = 0; i < plot.series.size(); ++i) svg += curve(plot.series[i], i, x, y);
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (kLeft + kRight) / 2, kHeight - 10, escaped(plot.x_label));
  svg += fmt::format(
      "<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (kTop + kBottom) / 2, escaped(plot.y_label));
  return svg + "</svg>\n";
}

}  // namespace bitcycle
