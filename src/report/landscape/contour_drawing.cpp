#include "report/landscape/contour_drawing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr double kLetterWidth = 0.62;  // of a letter's height, digits of common fonts
constexpr double kCandidateStep = 5;   // units between places that are tried
constexpr double kLeastStraight = 0.94;
constexpr double kLabelDistance = 36;  // units between labels, at least

double distance(const PlanePoint& a, const PlanePoint& b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

PlanePoint between(const PlanePoint& a, const PlanePoint& b, double share) {
  return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}

// A line in units of the picture, which can be asked for a place by the way to it.
class Path {
 public:
  explicit Path(ContourLine points) : points_(std::move(points)), way_{0} {
    for (std::size_t i = 1; i < points_.size(); ++i) {
      way_.push_back(way_.back() + distance(points_[i - 1], points_[i]));
    }
  }

  double length() const { return way_.back(); }
  const ContourLine& points() const { return points_; }

  PlanePoint at(double way) const {
    const auto next = std::ranges::lower_bound(way_, way);
    if (next == way_.begin()) return points_.front();
    if (next == way_.end()) return points_.back();
    const auto i = static_cast<std::size_t>(next - way_.begin());
    return between(points_[i - 1], points_[i], (way - way_[i - 1]) / (way_[i] - way_[i - 1]));
  }

  ContourLine slice(double from, double to) const {
    ContourLine piece = {at(from)};
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (way_[i] > from && way_[i] < to) piece.push_back(points_[i]);
    }
    piece.push_back(at(to));
    return piece;
  }

 private:
  ContourLine points_;
  std::vector<double> way_;
};

// Between plane and picture: units from the middle of the square.
ContourLine scaled(const ContourLine& line, double factor) {
  ContourLine points;
  for (const PlanePoint& point : line) {
    points.push_back({point.x * factor, point.y * factor});
  }
  return points;
}

// Points of a line that follow closely are seen as one.
ContourLine simplified(const ContourLine& line) {
  constexpr double kApart = 0.7;
  ContourLine kept = {line.front()};
  for (const PlanePoint& point : line) {
    if (distance(kept.back(), point) >= kApart) kept.push_back(point);
  }
  if (kept.back() != line.back()) kept.push_back(line.back());
  return kept;
}

struct Level {
  double value;
  std::vector<Path> paths;  // longest first
};

std::vector<Level> levels_with_lines(const Surface& surface, const std::vector<double>& values,
                                     double unit) {
  std::vector<Level> levels;
  for (const double value : values) {
    Level level{value, {}};
    for (const ContourLine& line : contour_lines(surface, value)) {
      level.paths.emplace_back(simplified(scaled(line, unit)));
    }
    std::ranges::stable_sort(level.paths, std::ranges::greater{}, &Path::length);
    if (!level.paths.empty()) levels.push_back(std::move(level));
  }
  return levels;
}

// Places on all lines, close enough that no line slips through between them.
struct Marks {
  std::vector<PlanePoint> points;
  std::vector<const Path*> owners;
};

Marks marks_of(const std::vector<Level>& levels) {
  constexpr double kStep = 4;
  Marks marks;
  for (const Level& level : levels) {
    for (const Path& path : level.paths) {
      for (double way = 0; way < path.length(); way += kStep) {
        marks.points.push_back(path.at(way));
        marks.owners.push_back(&path);
      }
    }
  }
  return marks;
}

class LabelPlacer {
 public:
  LabelPlacer(const std::vector<Level>& levels, double side, double letter)
      : marks_(marks_of(levels)), side_(side), letter_(letter) {}

  struct Place {
    double way = 0;  // of the label's middle
    double gap = 0;  // that it takes of the line
    ContourLabel label;
  };

  std::optional<Place> place(const Path& path, const std::string& text) {
    const double gap = letter_ * (kLetterWidth * static_cast<double>(text.size()) + 0.5);
    std::optional<Place> best;
    double best_room = 0;
    for (double way = gap; way < path.length() - gap; way += kCandidateStep) {
      const double room = room_at(path, way, gap);
      if (room > best_room)
        best_room = room, best = Place{way, gap, label_at(path, way, gap, text)};
    }
    if (best && path.length() > 3 * gap) {
      placed_.push_back(best->label.place);
      return best;
    }
    return std::nullopt;
  }

 private:
  // How good a place is; 0: no label can stand there.
  double room_at(const Path& path, double way, double gap) const {
    const PlanePoint middle = path.at(way);
    const double straight = distance(path.at(way - gap / 2), path.at(way + gap / 2)) / gap;
    const double edge = side_ / 2 - std::max(std::abs(middle.x), std::abs(middle.y));
    if (straight < kLeastStraight || edge < 0.6 * gap) return 0;
    double others = std::numeric_limits<double>::infinity();
    for (const PlanePoint& label : placed_) others = std::min(others, distance(label, middle));
    if (others < kLabelDistance) return 0;
    const double clear = clearance(path, middle);
    if (clear < 0.75 * letter_) return 0;
    return std::min(clear, 3 * letter_) + 0.1 * std::min(others, 120.) + 10 * straight;
  }

  // The distance to the next other line. Squares are compared, because there are many.
  double clearance(const Path& path, const PlanePoint& middle) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < marks_.points.size(); ++i) {
      const double x = marks_.points[i].x - middle.x, y = marks_.points[i].y - middle.y;
      if (x * x + y * y < least && marks_.owners[i] != &path) least = x * x + y * y;
    }
    return std::sqrt(least);
  }

  static ContourLabel label_at(const Path& path, double way, double gap, const std::string& text) {
    const PlanePoint from = path.at(way - gap / 2), to = path.at(way + gap / 2);
    double angle = std::atan2(to.y - from.y, to.x - from.x);
    if (std::abs(angle) > std::numbers::pi / 2) angle -= std::copysign(std::numbers::pi, angle);
    return {between(from, to, 0.5), angle, text};
  }

  Marks marks_;
  double side_, letter_;
  std::vector<PlanePoint> placed_;
};

// Back to the plane.
void add_line(DrawnContour& drawn, const Path& path, double unit,
              const std::optional<LabelPlacer::Place>& label) {
  if (!label) {
    drawn.pieces.push_back(scaled(path.points(), 1 / unit));
    return;
  }
  drawn.pieces.push_back(scaled(path.slice(0, label->way - label->gap / 2), 1 / unit));
  drawn.pieces.push_back(scaled(path.slice(label->way + label->gap / 2, path.length()), 1 / unit));
  drawn.labels.push_back(label->label);
  drawn.labels.back().place = {label->label.place.x / unit, label->label.place.y / unit};
}

}  // namespace

std::vector<DrawnContour> draw_contours(const Surface& surface, const std::vector<double>& levels,
                                        double side, double letter) {
  const double unit = side / (2 * surface.grid.range);
  const std::vector<Level> found = levels_with_lines(surface, levels, unit);
  LabelPlacer placer(found, side, letter);
  std::vector<DrawnContour> contours;
  for (const Level& level : found) {
    DrawnContour drawn{level.value, {}, {}};
    for (const Path& path : level.paths) {
      add_line(drawn, path, unit, placer.place(path, fmt::format("{:.4g}", level.value)));
    }
    contours.push_back(std::move(drawn));
  }
  return contours;
}

std::vector<double> crossed_levels(const std::vector<const Surface*>& surfaces,
                                   const std::vector<double>& levels) {
  std::vector<double> crossed;
  std::ranges::copy_if(levels, std::back_inserter(crossed), [&](double level) {
    return std::ranges::any_of(surfaces, [&](const Surface* surface) {
      const ValueRange range = value_range(*surface);
      return range.least < level && level <= range.most;
    });
  });
  return crossed;
}

}  // namespace bitcycle
