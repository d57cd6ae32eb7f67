#include "bitcycle/report/landscape_picture.h"

#include "report/landscape/contour_drawing.h"
#include "report/landscape/png_canvas.h"
#include "report/landscape/svg_canvas.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace bitcycle {
namespace {

// Units of the picture.
constexpr double kSide = 380;                          // of a panel's square
constexpr double kLeft = 64, kTop = 62, kBottom = 56;  // around a panel
constexpr double kBetween = 50;                        // panels, with the numbers of the right one
constexpr double kBar = 14, kBarGap = 20, kRight = 62;
constexpr double kLetter = 12, kLabelLetter = 10.5;

constexpr Colour kInk = {31, 35, 40}, kMuted = {87, 96, 106}, kFrame = {120, 128, 138};

// Low to high.
constexpr std::array<Colour, 5> kScale = {
    {{112, 168, 211}, {197, 221, 236}, {247, 244, 236}, {246, 215, 179}, {228, 157, 111}}};

Colour mixed(Colour a, Colour b, double share) {
  const auto mix = [&](int from, int to) {
    return static_cast<int>(std::lround(from + share * (to - from)));
  };
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

Colour scale_colour(double share) {
  const double place = std::clamp(share, 0., 1.) * (kScale.size() - 1);
  const auto at = std::min<std::size_t>(kScale.size() - 2, static_cast<std::size_t>(place));
  return mixed(kScale[at], kScale[at + 1], place - static_cast<double>(at));
}

// Bands between the levels: band i lies below level i, the last one above all.
class LevelColours {
 public:
  explicit LevelColours(std::size_t levels) : levels_(std::max<std::size_t>(1, levels)) {}
  Colour band(std::size_t i) const {
    return scale_colour(static_cast<double>(i) / static_cast<double>(levels_));
  }
  Colour line(std::size_t i) const { return mixed(band(i), {20, 30, 50}, 0.62); }

 private:
  std::size_t levels_;
};

ContourLine rectangle(double left, double top, double right, double bottom) {
  return {{left, top}, {right, top}, {right, bottom}, {left, bottom}, {left, top}};
}

struct Size {
  double width, height;
};

Size size_of(const LandscapePicture& picture) {
  const auto panels = static_cast<double>(picture.panels.size());
  return {kLeft + panels * kSide + (panels - 1) * kBetween + kBarGap + kBar + kRight,
          kTop + kSide + kBottom};
}

class Painter {
 public:
  Painter(const LandscapePicture& picture, Canvas& canvas)
      : picture_(picture), canvas_(canvas), levels_(levels_of(picture)), colours_(levels_.size()) {}

  void paint() {
    const Size size = size_of(picture_);
    canvas_.fill({rectangle(0, 0, size.width, size.height)}, {255, 255, 255});
    for (std::size_t i = 0; i < picture_.panels.size(); ++i) paint_panel(i);
    if (!levels_.empty()) paint_bar(size.width - kRight - kBar);
  }

 private:
  static std::vector<double> levels_of(const LandscapePicture& picture) {
    std::vector<const Surface*> surfaces;
    for (const LandscapePanel& panel : picture.panels) surfaces.push_back(&panel.loss);
    return crossed_levels(surfaces, picture.levels);
  }

  void paint_panel(std::size_t index) {
    const LandscapePanel& panel = picture_.panels[index];
    left_ = kLeft + static_cast<double>(index) * (kSide + kBetween);
    unit_ = kSide / (2 * panel.loss.grid.range);
    canvas_.write({left_, kTop - 32}, shortened(panel.title, 44),
                  {.size = 15, .bold = true, .colour = kInk});
    canvas_.write({left_, kTop - 12}, panel.caption, {.size = kLetter, .colour = kMuted});
    paint_bands(panel.loss);
    paint_contours(panel.loss);
    paint_centre();
    canvas_.stroke(rectangle(left_, kTop, left_ + kSide, kTop + kSide), kFrame, 1);
    paint_axes(panel.loss.grid, index == 0);
  }

  PlanePoint place(const PlanePoint& point) const {
    return {left_ + kSide / 2 + unit_ * point.x, kTop + kSide / 2 - unit_ * point.y};
  }
  ContourLine placed(const ContourLine& line) const {
    ContourLine points;
    for (const PlanePoint& point : line) points.push_back(place(point));
    return points;
  }

  // From the highest level down, each over the ones before.
  void paint_bands(const Surface& loss) {
    canvas_.fill({rectangle(left_, kTop, left_ + kSide, kTop + kSide)},
                 colours_.band(levels_.size()));
    for (std::size_t i = levels_.size(); i-- > 0;) {
      std::vector<ContourLine> outlines;
      for (const ContourLine& line : outline_below(loss, levels_[i])) {
        outlines.push_back(placed(line));
      }
      canvas_.fill(outlines, colours_.band(i));
    }
  }

  void paint_contours(const Surface& loss) {
    for (const DrawnContour& contour : draw_contours(loss, levels_, kSide, kLabelLetter)) {
      const auto level = std::ranges::find(levels_, contour.level) - levels_.begin();
      const Colour colour = colours_.line(static_cast<std::size_t>(level));
      for (const ContourLine& piece : contour.pieces) canvas_.stroke(placed(piece), colour, 1.1);
      for (const ContourLabel& label : contour.labels) write_label(label, colour);
    }
  }

  // Its middle, not its baseline, stands on the line.
  void write_label(const ContourLabel& label, Colour colour) {
    const PlanePoint middle = place(label.place);
    const double down = 0.36 * kLabelLetter;
    canvas_.write(
        {middle.x + down * std::sin(label.angle), middle.y + down * std::cos(label.angle)},
        label.text,
        {.size = kLabelLetter,
         .anchor = TextAnchor::middle,
         .angle = label.angle,
         .colour = mixed(colour, {0, 0, 0}, 0.35)});
  }

  void paint_centre() {
    const PlanePoint at = place({0, 0});
    canvas_.stroke({{at.x - 4, at.y}, {at.x + 4, at.y}}, kInk, 1.4);
    canvas_.stroke({{at.x, at.y - 4}, {at.x, at.y + 4}}, kInk, 1.4);
  }

  void paint_axes(const PlaneGrid& grid, bool first) {
    const double bottom = kTop + kSide;
    for (const double share : {-1., -0.5, 0., 0.5, 1.}) {
      const PlanePoint at = place({share * grid.range, share * grid.range});
      const std::string number = fmt::format("{:.3g}", share * grid.range);
      canvas_.stroke({{at.x, bottom}, {at.x, bottom + 5}}, kFrame, 1);
      canvas_.stroke({{left_ - 5, at.y}, {left_, at.y}}, kFrame, 1);
      canvas_.write({at.x, bottom + 19}, number,
                    {.size = kLetter, .anchor = TextAnchor::middle, .colour = kMuted});
      canvas_.write({left_ - 9, at.y + 4}, number,
                    {.size = kLetter, .anchor = TextAnchor::end, .colour = kMuted});
    }
    canvas_.write({left_ + kSide / 2, bottom + 40}, "first direction",
                  {.size = kLetter, .anchor = TextAnchor::middle, .colour = kMuted});
    if (!first) return;
    canvas_.write(
        {left_ - 46, kTop + kSide / 2}, "second direction",
        {.size = kLetter, .anchor = TextAnchor::middle, .angle = std::acos(0.), .colour = kMuted});
  }

  // Every band as high as the others; a number at each border between two.
  void paint_bar(double left) {
    const double band = kSide / static_cast<double>(levels_.size() + 1);
    const auto every = static_cast<std::size_t>(std::ceil(15 / band));
    for (std::size_t i = 0; i <= levels_.size(); ++i) {
      const double bottom = kTop + kSide - static_cast<double>(i) * band;
      canvas_.fill({rectangle(left, bottom - band, left + kBar, bottom)}, colours_.band(i));
      if (i == levels_.size()) break;
      canvas_.stroke({{left, bottom - band}, {left + kBar, bottom - band}}, colours_.line(i), 1.1);
      if (i % every != 0) continue;
      canvas_.write({left + kBar + 6, bottom - band + 4}, fmt::format("{:.4g}", levels_[i]),
                    {.size = kLetter - 1, .colour = kMuted});
    }
    canvas_.stroke(rectangle(left, kTop, left + kBar, kTop + kSide), kFrame, 1);
    canvas_.write({left + kBar, kTop - 12}, "loss",
                  {.size = kLetter, .anchor = TextAnchor::middle, .colour = kMuted});
  }

  // Letters of UTF-8 count by their first byte.
  static std::string shortened(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    std::size_t end = most - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return text.substr(0, end) + "...";
  }

  const LandscapePicture& picture_;
  Canvas& canvas_;
  std::vector<double> levels_;
  LevelColours colours_;
  double left_ = 0, unit_ = 1;  // of the panel that is being painted
};

std::string spoken(const LandscapePicture& picture) {
  std::string text = "Loss landscape:";
  for (const LandscapePanel& panel : picture.panels) {
    text += fmt::format(" {}, {};", panel.title, panel.caption);
  }
  return text;
}

}  // namespace

std::string to_svg(const LandscapePicture& picture) {
  const Size size = size_of(picture);
  SvgCanvas canvas(size.width, size.height, spoken(picture));
  Painter(picture, canvas).paint();
  return canvas.finish();
}

std::vector<std::byte> to_png(const LandscapePicture& picture) {
  const Size size = size_of(picture);
  PngCanvas canvas(size.width, size.height);
  Painter(picture, canvas).paint();
  return canvas.finish();
}

}  // namespace bitcycle
