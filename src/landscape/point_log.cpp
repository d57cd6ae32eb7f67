#include "bitcycle/landscape/point_log.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"

#include "base/json_text.h"
#include "landscape/landscape_json.h"

#include <optional>
#include <string_view>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Values = std::vector<std::pair<std::string, double>>;

fs::path log_path(const fs::path& run_directory, const LandscapeSubject& subject) {
  return landscape_file(run_directory, subject).replace_extension(".points.jsonl");
}

std::string header_of(const Landscape& landscape) {
  Json json = to_json(landscape.subject);
  json["scored"] = landscape.scored;
  json["unit"] = landscape.unit;
  return json_text(json);
}

std::optional<Values> values_of(const Json& json) {
  if (!json.is_object() || !json.contains("loss")) return std::nullopt;
  Values values;
  for (const auto& [name, value] : json.items()) {
    const auto number = value_from_json(value);
    if (!number) return std::nullopt;
    values.emplace_back(name, *number);
  }
  return values;
}

// False where the point has other metrics than those before it.
bool add_point(Landscape& landscape, const Values& values) {
  std::vector<std::string> names;
  std::vector<double> point;
  for (const auto& [name, value] : values) {
    names.push_back(name);
    point.push_back(value);
  }
  if (landscape.points.empty()) landscape.metrics = names;
  if (landscape.metrics != names) return false;
  landscape.points.push_back(std::move(point));
  return true;
}

struct Reading {
  std::uint64_t counted = 0;  // bytes of the lines that count
  std::string notice;
};

// Adds what the log has to the landscape, up to the first line that does not count.
Reading read_into(Landscape& landscape, std::string_view text, const std::string& name) {
  const std::string header = header_of(landscape) + "\n";
  if (text.empty() || header.starts_with(text)) return {};  // killed before its first point
  if (!text.starts_with(header)) {
    return {0, name + " is of other weights or samples, or damaged; it is made anew"};
  }
  std::size_t begin = header.size();
  for (std::size_t end; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
    const auto line = text.substr(begin, end - begin);
    const auto values = values_of(Json::parse(line, nullptr, /*allow_exceptions=*/false));
    const bool room = landscape.points.size() < landscape.subject.settings.grid.size();
    if (values && room && add_point(landscape, *values)) continue;
    return {begin, name + " is damaged: the first " + std::to_string(landscape.points.size()) +
                       " points count"};
  }
  return {begin, ""};
}

std::string text_of(const fs::path& path) {
  if (!fs::exists(path)) return "";
  const auto bytes = read_regular_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

PointLog::PointLog(const fs::path& run_directory, Landscape& landscape)
    : landscape_(landscape), path_(log_path(run_directory, landscape.subject)) {
  const Reading reading = read_into(landscape, text_of(path_), path_.filename().string());
  notice_ = reading.notice;
  log_ = std::make_unique<LineLog>(path_, reading.counted);
  if (reading.counted == 0) log_->append(header_of(landscape));
}

void PointLog::append(const Values& metrics) {
  if (!add_point(landscape_, metrics)) {
    throw Error(ErrorCode::io, path_.string() + " has points with other metrics",
                "Remove it; the landscape is then made anew.");
  }
  Json line = Json::object();
  for (const auto& [name, value] : metrics) line[name] = value;
  log_->append(json_text(line));
}

void PointLog::remove() {
  log_.reset();
  std::error_code ignored;  // a log that stays is found to be finished, and removed, next time
  fs::remove(path_, ignored);
}

}  // namespace bitcycle
