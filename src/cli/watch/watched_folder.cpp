#include "cli/watch/watched_folder.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/run_lock.h"

#include "base/json_text.h"
#include "cli/runs/find_runs.h"
#include "report/view/run_record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// What comes last in a log, without reading all of it. The times end with the last step that was
// done; metrics may end with the test of an earlier one, the best.
Step last_step(const fs::path& run) {
  for (const char* log : {"timing.jsonl", "metrics.jsonl"}) {
    if (const Step step = step_in(last_log_line(run / log)); step > 0) return step;
  }
  return 0;
}

std::string state_text(const fs::path& run) {
  std::error_code ignored;
  if (fs::exists(run / "summary.json", ignored)) return "finished";
  if (!holds_run(run)) return "gone";  // the only one, which had one at the start
  return is_in_use(run) ? "running" : "stopped";
}

PlannedLength planned_length(const fs::path& run) {
  try {
    const Recipe recipe = parse_recipe(text_or_nothing(run / "recipe.toml"), "recipe.toml");
    return {recipe.steps, recipe.epochs};
  } catch (const Error&) {
    return {};
  }
}

// A logged step tells how many there are in an epoch.
Step steps_of_epochs(const fs::path& run, double epochs) {
  const Json line = last_log_line(run / "metrics.jsonl", "epoch");
  const double step = number_in(line, "step").value_or(0);
  const double epoch = number_in(line, "epoch").value_or(0);
  return epoch > 0 ? std::llround(epochs * step / epoch) : 0;
}

// As pages have it: bytes that are not UTF-8 are replaced in JSON.
std::string in_utf8(const std::string& name) {
  return Json::parse(json_text(name)).get<std::string>();
}

}  // namespace

WatchedFolder::WatchedFolder(const fs::path& folder) {
  std::error_code error;
  root_ = fs::canonical(folder, error);
  if (error || !fs::is_directory(root_)) {
    throw Error(ErrorCode::usage, "there is no folder \"" + folder.string() + "\"",
                "Give a run directory, or a folder of them, such as runs.");
  }
  single_ = holds_run(root_);
}

std::vector<std::string> WatchedFolder::runs() const {
  if (single_) return {root_.filename().string()};
  std::vector<std::string> names;
  for (const fs::path& run : find_directories(root_, holds_run)) {
    if (run != root_) names.push_back(run.lexically_relative(root_).string());
  }
  return names;
}

std::optional<fs::path> WatchedFolder::directory(const std::string& name) const {
  if (auto found = directory_called(name)) return found;
  for (const std::string& run : runs()) {
    if (run != name && in_utf8(run) == name) return directory_called(run);
  }
  return std::nullopt;
}

std::optional<fs::path> WatchedFolder::directory_called(const std::string& name) const {
  if (single_) return name == root_.filename().string() ? std::optional(root_) : std::nullopt;
  if (name.empty() || name.find('\0') != std::string::npos) return std::nullopt;
  const fs::path relative(name);
  const auto is_dots = [](const fs::path& part) { return part == ".." || part == "."; };
  if (relative.is_absolute() || std::ranges::any_of(relative, is_dots)) return std::nullopt;
  std::error_code error;
  const fs::path whole = fs::canonical(root_ / relative, error);
  if (error || whole != (root_ / relative).lexically_normal() || !holds_run(whole))
    return std::nullopt;
  return whole;
}

PlannedLength WatchedFolder::length(const fs::path& run) const {
  std::error_code ignored;
  const auto written = fs::last_write_time(run / "recipe.toml", ignored);
  const std::lock_guard lock(mutex_);
  const auto known = lengths_.find(run);
  if (known != lengths_.end() && known->second.written == written) return known->second.length;
  return (lengths_[run] = {written, planned_length(run)}).length;
}

Step WatchedFolder::total_steps(const fs::path& run) const {
  const PlannedLength planned = length(run);
  return planned.steps > 0 ? planned.steps : steps_of_epochs(run, planned.epochs);
}

Json WatchedFolder::list() const {
  Json list = Json::array();
  for (const std::string& name : runs()) {
    const fs::path run = single_ ? root_ : root_ / name;
    list.push_back({{"name", name},
                    {"state", state_text(run)},
                    {"step", last_step(run)},
                    {"total", total_steps(run)}});
  }
  return list;
}

std::uint64_t state_of_files(const fs::path& run_directory) {
  constexpr std::array kFiles = {"metrics.jsonl", "timing.jsonl",     "layers.jsonl", "recipe.toml",
                                 "summary.json",  "evaluations.json", "landscape",    ".lock"};
  std::uint64_t state = 0;
  const auto mix = [&](std::uint64_t value) { state = (state ^ value) * 1099511628211ULL; };
  for (const char* file : kFiles) {
    std::error_code error;
    const auto size = fs::file_size(run_directory / file, error);
    mix(error ? 1 : size + 2);
    const auto time = fs::last_write_time(run_directory / file, error);
    mix(error ? 1 : static_cast<std::uint64_t>(time.time_since_epoch().count()));
  }
  mix(is_in_use(run_directory) ? 1 : 2);
  return state;
}

}  // namespace bitcycle::cli
