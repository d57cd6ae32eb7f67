#include "cli/run_summary.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/backend.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/io/file.h"
#include "bitcycle/report/live_line.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/run_paths.h"
#include "events/stage_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string text_of(const fs::path& path) {
  const auto bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// "CR 3-8", "static 8", "fp", or the expression that the name is.
std::string schedule_text(const ScheduleSpec& spec) {
  if (max_bits(spec) == 0) return "fp";
  const auto names = schedule_names();
  if (std::find(names.begin(), names.end(), spec.name) == names.end()) return spec.name;
  const int min = spec.min.value_or(spec.max);
  return min == spec.max ? fmt::format("{} {}", spec.name, spec.max)
                         : fmt::format("{} {}-{}", spec.name, min, spec.max);
}

// "PFQ 3-4-6-8/6-6-8-8", the stages.
std::string progressive_text(const ProgressiveRecipe& recipe) {
  return fmt::format("PFQ {}/{}", fmt::join(recipe.forward, "-"), fmt::join(recipe.backward, "-"));
}

// "DFQ 4w cp 3", "FracTrain 4w cp 1.5-2-2.5-3": bits of weights, targets.
std::string dynamic_text(const DynamicRecipe& recipe) {
  return fmt::format("{} {}w cp {}", recipe.target.size() > 1 ? "FracTrain" : "DFQ", *recipe.weight,
                     fmt::join(recipe.target, "-"));
}

// "CR 3-8/8": forward over backward; weights and activations apart where they differ.
std::string precision_text(const PrecisionRecipe& precision) {
  const std::string overrides = precision.overrides.empty() ? "" : " with overrides";
  if (precision.progressive) return progressive_text(*precision.progressive) + overrides;
  if (precision.dynamic) return dynamic_text(*precision.dynamic) + overrides;
  const std::string weight = schedule_text(precision.weight.value_or(precision.forward));
  const std::string activation = schedule_text(precision.activation.value_or(precision.forward));
  const std::string forward = weight == activation ? weight : weight + "w " + activation + "a";
  if (forward == "fp") return "float";
  const ScheduleSpec& back = precision.backward;
  const bool plain = back.name == "static" && back.max != 0;
  return forward + "/" + (plain ? std::to_string(back.max) : schedule_text(back)) + overrides;
}

struct TimingLine {
  std::int64_t step = 0;
  double seconds = 0;
};

TimingLine parse_timing(const std::string& line, const std::string& origin) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const bool whole = json.is_object() && json.value("step", Json()).is_number_integer() &&
                     json.value("seconds", Json()).is_number();
  if (whole) return {json["step"], json["seconds"]};
  throw Error(ErrorCode::io, origin + ": expected a line with \"step\" and \"seconds\"",
              "The file is damaged; remove the line, whose time is then missing, or the file.");
}

// Steps that a killed process had to repeat were logged twice; the later line counts.
std::optional<double> measured_seconds(const fs::path& timing) {
  if (!fs::exists(timing)) return std::nullopt;
  std::istringstream lines(text_of(timing));
  std::map<std::int64_t, double> seconds;
  int number = 0;
  for (std::string text; std::getline(lines, text);) {
    const TimingLine line = parse_timing(text, fmt::format("{}:{}", timing.string(), ++number));
    seconds[line.step] = line.seconds;
  }
  double total = 0;
  for (const auto& [step, value] : seconds) total += value;
  return total;
}

// A score whose loss or other metric is not finite (null in JSON) is none.
double finite_score(const Json& score, const std::string& metric) {
  const bool finite =
      std::ranges::none_of(score, [](const Json& value) { return value.is_null(); });
  return finite ? score.at(metric).get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::vector<StageChange> stages_in(const Json& summary) {
  std::vector<StageChange> stages;
  for (const Json& entry : summary.value("stages", Json::array())) {
    if (const auto change = stage_from_json(entry)) stages.push_back(*change);
  }
  return stages;
}

}  // namespace

RunSummary read_run_summary(const fs::path& run) {
  const Recipe recipe = read_recipe(run_recipe(run));
  if (!fs::exists(run / "summary.json")) {
    throw Error(ErrorCode::usage, "the run in \"" + run.string() + "\" is not finished",
                "Finish it with: bitcycle train " + run.string() + " --resume");
  }
  const std::string precision = precision_text(recipe.precision);
  const Metric& metric = metrics_of(task_of(recipe.model.name)).primary();
  const auto seconds = measured_seconds(run / "timing.jsonl");
  try {
    const Json json = Json::parse(text_of(run / "summary.json"));
    return {.run = run.string(),
            .precision = precision,
            .backend = precision == "float" ? "float"
                                            : json.value("backend", name(recipe.precision.backend)),
            .score = {metric, finite_score(json.at("test_of_best"), metric.name)},
            .gbitops = json.at("gbitops"),
            .counting = counting_by_name(json.at("counting").get<std::string>()),
            .saving_percent = json.at("saving_percent"),
            .training_seconds = seconds,
            .stages = stages_in(json),
            .gated = recipe.precision.dynamic.has_value()};
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::io, (run / "summary.json").string() + ": " + error.what(),
                "The file is damaged; remove it and resume the run to write it again.");
  }
}

namespace {

bool same_metric(const std::vector<RunSummary>& runs) {
  return std::ranges::all_of(runs, [&](const RunSummary& run) {
    return run.score.metric.name == runs.front().score.metric.name;
  });
}

// How much less time a run took than another: "31.5 %".
std::string time_saved(const RunSummary& run, const RunSummary& baseline) {
  if (&run == &baseline || !run.training_seconds || !baseline.training_seconds) return "-";
  return fmt::format("{:.1f} %",
                     100.0 * (1.0 - *run.training_seconds / *baseline.training_seconds));
}

}  // namespace

std::string counting_note(const std::vector<RunSummary>& runs) {
  std::set<Counting> rules;
  for (const RunSummary& run : runs) rules.insert(run.counting);
  std::string text;
  for (const Counting rule : rules) {
    text += fmt::format("GBitOPs by the counting rule \"{}\": {}.\n", name(rule), summary(rule));
  }
  return text;
}

std::string summary_table(const std::vector<RunSummary>& runs) {
  const bool one_metric = same_metric(runs);
  Table table({"precision", "backend",
               one_metric ? "test " + runs.front().score.metric.name : "test score", "GBitOPs",
               "cost saved", "training time", "time saved", "run directory"});
  for (const RunSummary& run : runs) {
    const auto& [metric, value] = run.score;
    table.add_row({run.precision, run.backend,
                   (one_metric ? "" : metric.name + " ") +
                       (std::isfinite(value) ? metric.text(value) : "not finite"),
                   fmt::format("{:.4g}", run.gbitops), fmt::format("{:.1f} %", run.saving_percent),
                   run.training_seconds ? readable_duration(*run.training_seconds) : "-",
                   time_saved(run, runs.back()), run.run});
  }
  return table.text();
}

std::string stages_text(const std::vector<RunSummary>& runs) {
  const auto shown = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4g}", *value) : "-";
  };
  Table table({"from step", "precision", "loss moves by", "threshold", "run directory"});
  for (const RunSummary& run : runs) {
    for (const StageChange& change : run.stages) {
      table.add_row({std::to_string(change.step), change.from + " -> " + change.to,
                     shown(change.difference), shown(change.threshold), run.run});
    }
  }
  const bool any = std::ranges::any_of(runs, [](const auto& run) { return !run.stages.empty(); });
  return any ? table.text() : "";
}

std::string summary_json(const std::vector<RunSummary>& runs) {
  Json list = Json::array();
  for (const RunSummary& run : runs) {
    list.push_back(
        {{"run", run.run},
         {"precision", run.precision},
         {"backend", run.backend},
         {run.score.metric.name, std::isfinite(run.score.value) ? Json(run.score.value) : Json()},
         {"counting", name(run.counting)},
         {"gbitops", run.gbitops},
         {"saving_percent", run.saving_percent},
         {"training_seconds", run.training_seconds ? Json(*run.training_seconds) : Json()}});
    for (const StageChange& change : run.stages) list.back()["stages"].push_back(to_json(change));
  }
  return json_text(list, 2) + "\n";
}

}  // namespace bitcycle::cli
