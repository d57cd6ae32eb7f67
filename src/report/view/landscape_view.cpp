#include "report/view/landscape_view.h"

#include "bitcycle/base/error.h"
#include "bitcycle/landscape/landscape.h"

#include "report/landscape/contour_drawing.h"
#include "report/view/point_series.h"

#include <algorithm>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kSide = 400, kLetter = 11;  // about as large as the page draws it
constexpr int kMostValues = 101;             // along each side
constexpr double kRise = 0.5;                // of the area that is told

// The papers' levels; finer ones where the loss hardly rises.
std::vector<double> levels_for(const Surface& loss) {
  for (const double step : {0.5, 0.1, 0.02}) {
    const auto levels = crossed_levels({&loss}, levels_of({0.1, step, 10}));
    if (levels.size() >= 2 || step == 0.02) return levels;
  }
  return {};
}

// x, y, x, y, ...
Json flat(const ContourLine& line) {
  Json numbers = Json::array();
  for (const PlanePoint& point : line) {
    numbers.push_back(rounded(point.x, 4));
    numbers.push_back(rounded(point.y, 4));
  }
  return numbers;
}

Json contours_of(const Surface& loss) {
  Json list = Json::array();
  for (const DrawnContour& contour : draw_contours(loss, levels_for(loss), kSide, kLetter)) {
    Json lines = Json::array(), labels = Json::array();
    for (const ContourLine& piece : contour.pieces) lines.push_back(flat(piece));
    for (const ContourLabel& label : contour.labels) {
      labels.push_back({{"x", rounded(label.place.x, 4)},
                        {"y", rounded(label.place.y, 4)},
                        {"angle", rounded(label.angle, 4)},
                        {"text", label.text}});
    }
    list.push_back({{"level", rounded(contour.level)}, {"lines", lines}, {"labels", labels}});
  }
  return list;
}

// Rows by beta; of a fine grid every second point, every third, ...
Json values_of(const Surface& loss) {
  const int every = (loss.grid.points + kMostValues - 1) / kMostValues;
  Json rows = Json::array();
  for (int j = 0; j < loss.grid.points; j += every) {
    Json row = Json::array();
    for (int i = 0; i < loss.grid.points; i += every) row.push_back(rounded(loss.at(i, j), 4));
    rows.push_back(std::move(row));
  }
  return {{"every", every}, {"rows", std::move(rows)}};
}

Json view_of(const Landscape& landscape) {
  const Surface loss = landscape.surface("loss");
  const LandscapeSettings& settings = landscape.subject.settings;
  return {{"settings", to_text(settings)},
          {"step", landscape.subject.step},
          {"bits", settings.bits},
          {"grid", settings.grid.points},
          {"range", settings.grid.range},
          {"scored", landscape.scored},
          {"unit", landscape.unit},
          {"centre", rounded(loss.centre())},
          {"least", rounded(value_range(loss).least)},
          {"rise", kRise},
          {"area", rounded(area_below(loss, loss.centre() + kRise))},
          {"reaches_edge", reaches_edge(loss, loss.centre() + kRise)},
          {"contours", contours_of(loss)},
          {"loss", values_of(loss)}};
}

}  // namespace

Json landscape_views(const fs::path& run_directory, std::vector<std::string>& notices) {
  Json views = Json::array();
  for (const fs::path& file : landscape_files(run_directory)) {
    try {
      views.push_back(view_of(read_landscape(file)));
    } catch (const Error&) {
      notices.push_back(std::string(kLandscapeFolder) + "/" + file.filename().string() +
                        " cannot be read.");
    }
  }
  return views;
}

}  // namespace bitcycle
