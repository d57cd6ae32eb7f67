#include "report/landscape/svg_canvas.h"

#include "report/xml_text.h"

#include <numbers>

#include <fmt/format.h>

namespace bitcycle {
namespace {

std::string hex(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

std::string path_of(const ContourLine& line) {
  std::string path;
  char command = 'M';
  for (const PlanePoint& point : line) {
    path += fmt::format("{}{:.1f} {:.1f}", command, point.x, point.y);
    command = 'L';
  }
  return path;
}

const char* word(TextAnchor anchor) {
  return anchor == TextAnchor::start ? "start" : anchor == TextAnchor::middle ? "middle" : "end";
}

}  // namespace

SvgCanvas::SvgCanvas(double width, double height, const std::string& label)
    : svg_(fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" )"
                       R"(width="{0}" height="{1}" role="img" aria-label="{2}" )"
                       R"(font-family="system-ui, sans-serif">)",
                       width, height, escaped(label)) +
           '\n') {}

void SvgCanvas::fill(const std::vector<ContourLine>& outlines, Colour colour) {
  std::string path;
  for (const ContourLine& line : outlines) path += path_of(line) + "Z";
  if (path.empty()) return;
  svg_ += fmt::format("<path fill=\"{}\" fill-rule=\"evenodd\" d=\"{}\"/>\n", hex(colour), path);
}

void SvgCanvas::stroke(const ContourLine& line, Colour colour, double width) {
  svg_ += fmt::format(
      "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" "
      "d=\"{}\"/>\n",
      hex(colour), width, path_of(line));
}

void SvgCanvas::write(const PlanePoint& at, const std::string& text, const TextStyle& style) {
  const double degrees = -style.angle * 180 / std::numbers::pi;
  const std::string turned =
      style.angle == 0 ? fmt::format("x=\"{:.1f}\" y=\"{:.1f}\"", at.x, at.y)
                       : fmt::format("transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\"", at.x,
                                     at.y, degrees);
  svg_ += fmt::format("<text {} font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\"{}>{}</text>\n",
                      turned, style.size, word(style.anchor), hex(style.colour),
                      style.bold ? " font-weight=\"600\"" : "", escaped(text));
}

}  // namespace bitcycle
