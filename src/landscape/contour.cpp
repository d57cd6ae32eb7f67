#include "bitcycle/landscape/contour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>

namespace bitcycle {
namespace {

enum class Border {
  open,   // a contour ends at the edge of the square
  walled  // all is high beyond the edge, so that every contour is closed
};

// The surface as marching squares sees it. A wall is a ring of points that stand where the points
// of the edge stand, and are higher than every level.
class Field {
 public:
  Field(const Surface& surface, double level, Border border)
      : surface_(surface), level_(level), ring_(border == Border::walled ? 1 : 0) {}

  int points() const { return surface_.grid.points + 2 * ring_; }
  double value(int column, int row) const {
    const int most = surface_.grid.points - 1;
    const int i = column - ring_, j = row - ring_;
    if (i < 0 || j < 0 || i > most || j > most) return kHigh;
    const double value = surface_.at(i, j);
    return std::isfinite(value) ? value : kHigh;
  }
  bool below(int column, int row) const { return value(column, row) < level_; }
  PlanePoint place(int column, int row) const { return {along(column), along(row)}; }
  double level() const { return level_; }

 private:
  static constexpr double kHigh = std::numeric_limits<double>::infinity();

  double along(int index) const {
    return surface_.grid.at(std::clamp(index - ring_, 0, surface_.grid.points - 1));
  }

  const Surface& surface_;
  double level_;
  int ring_;
};

struct Corner {
  int column, row;
};

// Sides of cells are numbered by their lower or left end, twice: along alpha, then along beta.
using Side = std::int64_t;

class Tracer {
 public:
  explicit Tracer(const Field& field) : field_(field) {
    for (int row = 0; row + 1 < field.points(); ++row) {
      for (int column = 0; column + 1 < field.points(); ++column) cross_cell(column, row);
    }
  }

  // Lines that begin at the edge, then those that are closed.
  std::vector<ContourLine> lines() {
    std::set<Side> entered;
    for (const auto& [from, to] : next_) entered.insert(to);
    std::vector<Side> begins;
    for (const auto& [from, to] : next_) {
      if (!entered.contains(from)) begins.push_back(from);
    }
    std::vector<ContourLine> lines;
    for (const Side begin : begins) lines.push_back(follow(begin));
    while (!next_.empty()) lines.push_back(follow(next_.begin()->first));
    return lines;
  }

 private:
  // Corners counter-clockwise; side k leads from corner k to the next. A walk around the part of
  // the cell that is below leaves it at one side and comes back at another: the contour goes from
  // the one to the other, with what is below on its left.
  void cross_cell(int column, int row) {
    const std::array<Corner, 4> corners = {
        {{column, row}, {column + 1, row}, {column + 1, row + 1}, {column, row + 1}}};
    std::vector<int> leaves, enters;
    for (int k = 0; k < 4; ++k) {
      const bool from = is_below(corners[k]), to = is_below(corners[(k + 1) % 4]);
      if (from && !to) leaves.push_back(k);
      if (!from && to) enters.push_back(k);
    }
    if (leaves.empty()) return;
    const bool saddle = leaves.size() == 2;
    const bool joined = saddle && mean_is_below(corners);
    for (const int k : leaves) {
      // Joined, the contour cuts off the high corner ahead; else it goes around the low one.
      const int back = !saddle ? enters.front() : joined ? (k + 1) % 4 : (k + 3) % 4;
      next_[side(corners, k)] = side(corners, back);
    }
  }

  bool is_below(const Corner& corner) const { return field_.below(corner.column, corner.row); }

  bool mean_is_below(const std::array<Corner, 4>& corners) const {
    double sum = 0;
    for (const Corner& corner : corners) sum += field_.value(corner.column, corner.row);
    return sum / 4 < field_.level();
  }

  Side side(const std::array<Corner, 4>& corners, int k) const {
    const Corner &a = corners[k], &b = corners[(k + 1) % 4];
    const Side number =
        Side{std::min(a.row, b.row)} * field_.points() + std::min(a.column, b.column);
    return 2 * number + (a.column == b.column ? 1 : 0);
  }

  PlanePoint crossing(Side side) const {
    const int column = static_cast<int>(side / 2 % field_.points());
    const int row = static_cast<int>(side / 2 / field_.points());
    const int across = side % 2 == 0 ? 1 : 0;
    const double a = field_.value(column, row), b = field_.value(column + across, row + 1 - across);
    const PlanePoint from = field_.place(column, row);
    const PlanePoint to = field_.place(column + across, row + 1 - across);
    // Towards a value that is no number the surface is a cliff.
    if (!std::isfinite(b)) return from;
    if (!std::isfinite(a)) return to;
    const double share = (field_.level() - a) / (b - a);
    return {from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)};
  }

  ContourLine follow(Side begin) {
    ContourLine line = {crossing(begin)};
    for (auto found = next_.find(begin); found != next_.end();) {
      const Side to = found->second;
      next_.erase(found);
      line.push_back(crossing(to));
      found = next_.find(to);
    }
    return line;
  }

  const Field& field_;
  std::map<Side, Side> next_;  // from the side where a contour leaves a cell's low part
};

// Twice the area that a closed line encloses, counter-clockwise.
double doubled_area(const ContourLine& line) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    sum += line[i].x * line[i + 1].y - line[i + 1].x * line[i].y;
  }
  return sum;
}

}  // namespace

std::vector<ContourLine> contour_lines(const Surface& surface, double level) {
  return Tracer(Field(surface, level, Border::open)).lines();
}

std::vector<ContourLine> outline_below(const Surface& surface, double level) {
  return Tracer(Field(surface, level, Border::walled)).lines();
}

double area_below(const Surface& surface, double level) {
  double doubled = 0;
  for (const ContourLine& line : outline_below(surface, level)) doubled += doubled_area(line);
  return doubled / 2;
}

bool reaches_edge(const Surface& surface, double level) {
  const int last = surface.grid.points - 1;
  for (int i = 0; i <= last; ++i) {
    for (const double value :
         {surface.at(i, 0), surface.at(i, last), surface.at(0, i), surface.at(last, i)}) {
      if (value < level) return true;
    }
  }
  return false;
}

std::vector<double> levels_of(const LevelRange& range) {
  std::vector<double> levels;
  for (int i = 0; range.first + i * range.step < range.end; ++i) {
    levels.push_back(range.first + i * range.step);
  }
  return levels;
}

}  // namespace bitcycle
