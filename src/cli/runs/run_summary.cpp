#include "cli/runs/run_summary.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/backend.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/cost/run_cost.h"
#include "bitcycle/events/metrics_file.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/io/file.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/live_line.h"
#include "bitcycle/report/precision_text.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/runs/find_runs.h"
#include "cli/runs/run_paths.h"
#include "events/stage_json.h"
#include "io/is_there.h"
#include "report/view/run_record.h"

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
  const auto bytes = read_regular_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct TimingLine {
  std::int64_t step = 0;
  double seconds = 0;
  std::string machine;
};

// The first line of each process names it; runs of before did not.
std::string machine_of(const Json& line) {
  const Json machine = line.value("machine", Json());
  if (!machine.is_object()) return "";
  const Json threads = machine.value("threads", Json()), name = machine.value("processor", Json());
  if (!threads.is_number_integer() || !name.is_string()) return "";
  return fmt::format("{} threads of {}", threads.get<int>(), name.get<std::string>());
}

TimingLine parse_timing(const std::string& line, const std::string& origin) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const bool whole = json.is_object() && json.value("step", Json()).is_number_integer() &&
                     json.value("seconds", Json()).is_number();
  if (whole) return {json["step"], json["seconds"], machine_of(json)};
  throw Error(ErrorCode::io, origin + ": expected a line with \"step\" and \"seconds\"",
              "The file is damaged; remove the line, whose time is then missing, or the file.");
}

struct Timing {
  std::optional<double> seconds;
  std::string machine;  // several, joined, of a run that moved
};

// Steps that a killed process had to repeat were logged twice; the later line counts.
Timing measured_timing(const fs::path& file) {
  if (!is_there(file)) return {};
  std::istringstream lines(text_of(file));
  std::map<std::int64_t, double> seconds;
  std::set<std::string> machines;
  int number = 0;
  for (std::string text; std::getline(lines, text);) {
    const TimingLine line = parse_timing(text, fmt::format("{}:{}", file.string(), ++number));
    seconds[line.step] = line.seconds;
    if (!line.machine.empty()) machines.insert(line.machine);
  }
  double total = 0;
  for (const auto& [step, value] : seconds) total += value;
  return {total, fmt::format("{}", fmt::join(machines, ", then "))};
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

// What the recipe alone says.
RunSummary planned(const fs::path& run, const Recipe& recipe) {
  RunSummary summary{.run = run.string(), .recipe = recipe};
  summary.total = recipe.steps;
  summary.precision = precision_text(recipe.precision);
  if (summary.precision == "float") summary.backend = "float";
  summary.scheme = scheme_text(recipe.precision, summary.backend);
  summary.score.metric = metrics_of(task_of(recipe.model.name)).primary();
  summary.gated = recipe.precision.dynamic.has_value();
  return summary;
}

std::optional<AveragedScore> averaged_in(const Json& summary, const Metric& metric) {
  if (!summary.contains("averaged")) return std::nullopt;
  const Json& averaged = summary.at("averaged");
  return AveragedScore{averaged.at("points"),
                       {metric, finite_score(averaged.at("test"), metric.name)}};
}

void add_results(const Json& json, RunSummary& summary) {
  const std::string metric = summary.score.metric.name;
  if (summary.precision != "float") summary.backend = json.value("backend", "");
  summary.scheme = scheme_text(summary.recipe.precision, summary.backend);
  summary.score.value = finite_score(json.at("test_of_best"), metric);
  summary.gbitops = json.at("gbitops");
  summary.counting = counting_by_name(json.at("counting").get<std::string>());
  summary.saving_percent = json.at("saving_percent");
  summary.step = summary.total = json.at("steps");
  summary.stages = stages_in(json);
  summary.averaged = averaged_in(json, summary.score.metric);
}

void add_timing(RunSummary& summary) {
  const Timing timing = measured_timing(fs::path(summary.run) / "timing.jsonl");
  summary.training_seconds = timing.seconds;
  summary.machine = timing.machine;
}

// What "auto" came to is decided when a run begins, and stands in the first line of its log.
void add_backend(const fs::path& log, RunSummary& summary) {
  if (summary.precision == "float") return;
  summary.backend = text_in(first_log_line(log), "backend");
}

// How far an unfinished run has come. Without a log its checkpoints tell.
void add_progress(RunSummary& summary) {
  const fs::path file = fs::path(summary.run) / "metrics.jsonl";
  summary.state = SummaryState::unfinished;
  summary.step = CheckpointStore(summary.run).latest().value_or(0);
  if (!is_there(file)) return;
  add_backend(file, summary);
  const std::vector<LoggedStep> log = logged_steps(summary.run);
  if (log.empty()) return;
  const LoggedStep& last = log.back();
  summary.step = std::max(summary.step, last.step);
  summary.gbitops = last.gbitops;
  summary.saving_percent = saving_percent(last.gbitops, last.gbitops_static);
  if (summary.total == 0 && last.epoch > 0) {
    summary.total =
        std::llround(summary.recipe.epochs * static_cast<double>(last.step) / last.epoch);
  }
}

RunSummary unreadable(const fs::path& run, const std::string& why) {
  RunSummary summary{.run = run.string(), .state = SummaryState::unreadable, .trouble = why};
  summary.score.value = std::numeric_limits<double>::quiet_NaN();
  return summary;
}

// "" where there is a run.
std::string nothing_there(const fs::path& run) {
  std::error_code ignored;
  if (!is_there(run)) return "there is no such directory";
  if (!fs::is_directory(run, ignored)) return "this is no directory";
  if (is_there(run / "recipe.toml")) return "";
  if (holds_run(run)) return (run / "recipe.toml").string() + " is missing";
  return "no run has begun here: it has no recipe.toml";
}

}  // namespace

RunSummary read_run_summary(const fs::path& run) {
  RunSummary summary = planned(run, read_recipe(run_recipe(run)));
  if (!is_there(run / "summary.json")) {
    throw Error(ErrorCode::usage, "the run in \"" + run.string() + "\" is not finished",
                "Finish it with: bitcycle train " + run.string() + " --resume");
  }
  add_timing(summary);
  try {
    add_results(Json::parse(text_of(run / "summary.json")), summary);
  } catch (const Json::exception&) {
    throw Error(ErrorCode::io,
                (run / "summary.json").string() + ": expected what a finished run came to, in JSON",
                "The file is damaged; remove it and resume the run to write it again.");
  }
  return summary;
}

RunSummary look_at_run(const fs::path& run) {
  if (const std::string why = nothing_there(run); !why.empty()) return unreadable(run, why);
  try {
    if (is_there(run / "summary.json")) return read_run_summary(run);
    RunSummary summary = planned(run, read_recipe(run / "recipe.toml"));
    summary.score.value = std::numeric_limits<double>::quiet_NaN();
    add_timing(summary);
    add_progress(summary);
    return summary;
  } catch (const Error& error) {
    const std::string hint = error.hint().empty() ? "" : "\n  " + error.hint();
    return unreadable(run, error.what() + hint);
  }
}

namespace {

bool same_metric(const std::vector<RunSummary>& runs) {
  return std::ranges::all_of(runs, [&](const RunSummary& run) {
    return run.score.metric.name == runs.front().score.metric.name;
  });
}

}  // namespace

std::string counting_note(const std::vector<RunSummary>& runs) {
  std::set<Counting> rules;
  for (const RunSummary& run : runs) {
    if (run.state != SummaryState::unreadable) rules.insert(run.counting);
  }
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
               "cost saved", "training time", "run directory"});
  for (const RunSummary& run : runs) {
    table.add_row({run.precision, run.backend,
                   (one_metric ? "" : run.score.metric.name + " ") + score_text(run.score),
                   amount_text(run.gbitops), percent_text(run.saving_percent),
                   run.training_seconds ? readable_duration(*run.training_seconds) : "-", run.run});
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

std::string averaged_text(const std::vector<RunSummary>& runs) {
  std::string text;
  for (const RunSummary& run : runs) {
    if (!run.averaged) continue;
    text += fmt::format("averaged weights of {} point{}: test {} {}{}\n", run.averaged->points,
                        run.averaged->points == 1 ? "" : "s", run.averaged->test.metric.name,
                        score_text(run.averaged->test), runs.size() > 1 ? ", " + run.run : "");
  }
  return text;
}

}  // namespace bitcycle::cli
