#include "bitcycle/landscape/landscape.h"

#include "bitcycle/io/file.h"

#include "base/json_text.h"
#include "landscape/landscape_json.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

// Rows by beta, in them values by alpha, as one reads a matrix of a picture whose origin is below.
Json matrix_of(const Landscape& landscape, std::size_t metric) {
  const auto side = static_cast<std::size_t>(landscape.subject.settings.grid.points);
  Json rows = Json::array();
  for (std::size_t row = 0; row < side; ++row) {
    Json values = Json::array();
    for (std::size_t i = 0; i < side; ++i) {
      values.push_back(landscape.points[row * side + i][metric]);  // not finite: null
    }
    rows.push_back(std::move(values));
  }
  return rows;
}

Json axis_of(const PlaneGrid& grid) {
  Json axis = Json::array();
  for (int i = 0; i < grid.points; ++i) axis.push_back(grid.at(i));
  return axis;
}

// A row of the grid per line, so that people can look at it.
std::string json_of(const Landscape& landscape) {
  Json json = {{"format", kFormat}};
  json.update(to_json(landscape.subject));
  json["scored"] = landscape.scored;
  json["unit"] = landscape.unit;
  std::string text = json_text(json);
  text.pop_back();
  text += fmt::format(",\n\"axis\": {},\n\"metrics\": {{",
                      json_text(axis_of(landscape.subject.settings.grid)));
  for (std::size_t i = 0; i < landscape.metrics.size(); ++i) {
    std::vector<std::string> rows;
    for (const Json& row : matrix_of(landscape, i)) rows.push_back(json_text(row));
    text += fmt::format("{}\n{}: [\n{}]", i == 0 ? "" : ",", json_text(landscape.metrics[i]),
                        fmt::join(rows, ",\n"));
  }
  return text + "}}\n";
}

// Numbers as JSON writes them, so that both files say the same; what is not finite as "nan".
std::string csv_of(const Landscape& landscape) {
  const auto number = [](double value) {
    return std::isfinite(value) ? json_text(value) : std::string("nan");
  };
  const PlaneGrid& grid = landscape.subject.settings.grid;
  std::string text = fmt::format("alpha,beta,{}\n", fmt::join(landscape.metrics, ","));
  for (std::size_t i = 0; i < landscape.points.size(); ++i) {
    const int point = static_cast<int>(i);
    std::vector<std::string> cells = {number(grid.at(point % grid.points)),
                                      number(grid.at(point / grid.points))};
    for (const double value : landscape.points[i]) cells.push_back(number(value));
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

class FileReader {
 public:
  explicit FileReader(const fs::path& file) : file_(file) {
    const auto bytes = read_regular_file(file);
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    json_ = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  }

  Landscape landscape() const {
    if (!json_.is_object()) fail("is not JSON, or cut short");
    if (json_.value("format", Json()) != kFormat) fail("has another format");
    const auto subject = subject_from_json(json_);
    if (!subject) fail("lacks what it is of");
    const Json scored = json_.value("scored", Json()), unit = json_.value("unit", Json());
    const Json metrics = json_.value("metrics", Json());
    if (!scored.is_number_unsigned() || !unit.is_string()) fail("lacks its samples");
    if (!metrics.is_object() || !metrics.contains("loss")) fail("lacks the loss");
    Landscape landscape{*subject, scored, unit, {}, {}};
    landscape.points.resize(subject->settings.grid.size());
    for (const auto& [name, rows] : metrics.items()) {
      landscape.metrics.push_back(name);
      add_values(landscape, name, rows);
    }
    return landscape;
  }

 private:
  void add_values(Landscape& landscape, const std::string& name, const Json& rows) const {
    const auto side = static_cast<std::size_t>(landscape.subject.settings.grid.points);
    const auto is_whole = [&](const Json& list) { return list.is_array() && list.size() == side; };
    if (!is_whole(rows) || !std::ranges::all_of(rows, is_whole)) fail("lacks points of " + name);
    std::size_t point = 0;
    for (const Json& row : rows) {
      for (const Json& value : row) {
        const auto number = value_from_json(value);
        if (!number) fail("has a point of " + name + " that is no number");
        landscape.points[point++].push_back(*number);
      }
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::io, "\"" + file_.string() + "\" " + what,
                "Remove it; `bitcycle landscape` makes it anew.");
  }

  fs::path file_;
  Json json_;
};

}  // namespace

Surface Landscape::surface(const std::string& metric) const {
  const auto column = std::ranges::find(metrics, metric) - metrics.begin();
  Surface surface{subject.settings.grid, {}};
  for (const auto& point : points) {
    surface.values.push_back(point[static_cast<std::size_t>(column)]);
  }
  return surface;
}

std::string to_text(const LandscapeSettings& settings) {
  const std::string samples = settings.samples == 0 ? "all" : std::to_string(settings.samples);
  return fmt::format("bits{}-grid{}-range{}-samples{}-seed{}", settings.bits, settings.grid.points,
                     settings.grid.range, samples, settings.seed);
}

fs::path landscape_file(const fs::path& run_directory, const LandscapeSubject& subject) {
  return run_directory / kLandscapeFolder /
         fmt::format("step{}-{}.json", subject.step, to_text(subject.settings));
}

void store_landscape(const fs::path& run_directory, const Landscape& landscape) {
  fs::path file = landscape_file(run_directory, landscape.subject);
  const fs::path table = fs::path(file).replace_extension(".csv");
  write_file(table, csv_of(landscape));
  write_file(file, json_of(landscape));  // last: where it stands, all does
}

Landscape read_landscape(const fs::path& file) {
  return FileReader(file).landscape();
}

std::vector<fs::path> landscape_files(const fs::path& run_directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(run_directory / kLandscapeFolder, error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".json") files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace bitcycle
