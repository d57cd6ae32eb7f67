#include "report/view/run_record.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/run_lock.h"

#include "events/evaluations_json.h"
#include "events/stage_json.h"
#include "io/is_there.h"
#include "report/view/line_check.h"

#include <algorithm>
#include <cmath>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Steps that a killed process had to repeat were measured twice; the later line counts.
void append_in_order(std::vector<Json>& lines, Json line) {
  if (step_in(line) < 1) return;
  while (!lines.empty() && step_in(lines.back()) >= step_in(line)) lines.pop_back();
  lines.push_back(std::move(line));
}

void tell(RunRecord& record, const std::string& notice) {
  if (!notice.empty()) record.notices.push_back(notice);
}

void read_recipe_into(RunRecord& record) {
  const fs::path file = record.directory / "recipe.toml";
  record.recipe_text = text_or_nothing(file);
  if (record.recipe_text.empty()) {
    return tell(record, is_there(file) ? "recipe.toml cannot be read." : "recipe.toml is missing.");
  }
  try {
    record.recipe = parse_recipe(record.recipe_text, "recipe.toml");
  } catch (const Error& error) {
    tell(record, std::string("The recipe cannot be read: ") + error.what());
  }
}

// The lines of a log that can be read, with notices of what cannot.
std::vector<Json> checked_lines(RunRecord& record, const std::string& file) {
  LogLines log = read_log_lines(record.directory / file);
  tell(record, log.notice(file));
  if (log.cut) record.cut.push_back(file);
  LineCheck check(file);
  for (std::size_t i = 0; i < log.lines.size(); ++i) check.look_at(log.lines[i], log.numbers[i]);
  for (const std::string& notice : check.notices()) tell(record, notice);
  return std::move(log.lines);
}

void read_metrics_into(RunRecord& record) {
  for (Json& line : checked_lines(record, "metrics.jsonl")) {
    const std::string type = text_in(line, "type");
    if (type == "run")
      record.start = std::move(line);
    else if (type == "step")
      append_in_order(record.steps, std::move(line));
    else if (type == "evaluation")
      record.evaluations.push_back(std::move(line));
    else if (type != "stage")
      continue;
    else if (auto change = stage_from_json(line))
      record.stages.push_back(*change);
  }
}

// Nobody misses measured times or layers' statistics before there are any.
std::vector<Json> read_lines_into(RunRecord& record, const std::string& file) {
  std::vector<Json> lines;
  if (!is_there(record.directory / file)) return lines;
  for (Json& line : checked_lines(record, file)) append_in_order(lines, std::move(line));
  return lines;
}

// A run writes it when it has finished, with what it came to.
Json read_summary(RunRecord& record) {
  Json summary = read_json_file(record.directory / "summary.json", record.notices);
  if (summary.is_object() && !summary.value("test_of_best", Json()).is_object()) {
    tell(record, "summary.json has no test score (\"test_of_best\"): it is damaged.");
  }
  return summary;
}

Json read_stored_evaluations(RunRecord& record) {
  Json json = read_json_file(record.directory / "evaluations.json", record.notices);
  if (!json.is_null() && !holds_evaluations(json)) {
    tell(record, "evaluations.json is damaged: some of its entries are none.");
  }
  return json;
}

// Of a run that has finished nothing can be on its way.
void tell_what_is_lost(RunRecord& record) {
  if (record.state != RunState::finished) return;
  const auto lacks = [&](const std::vector<Json>& lines, const std::string& file) {
    if (lines.empty() && is_there(record.directory / file)) {
      tell(record, file + " holds no step of the run, which has finished.");
    }
  };
  lacks(record.steps, "metrics.jsonl");
  lacks(record.timing, "timing.jsonl");
  if (!is_there(record.directory / "timing.jsonl")) tell(record, "timing.jsonl is missing.");
  for (const std::string& file : record.cut) tell(record, "The last line of " + file + " is cut.");
}

// A finished run's summary has the number of its steps.
RunLength length_without_log(const RunRecord& record) {
  if (!record.recipe) return {};
  const Recipe& recipe = *record.recipe;
  const Step total = recipe.steps > 0 ? recipe.steps : step_in(record.summary, "steps");
  if (recipe.epochs <= 0 || total == 0) return {total, 1};
  return {total, std::max<Step>(1, std::llround(static_cast<double>(total) / recipe.epochs))};
}

RunState state_of(const RunRecord& record) {
  if (record.summary.is_object()) return RunState::finished;
  return is_in_use(record.directory) ? RunState::running : RunState::stopped;
}

}  // namespace

std::optional<double> number_in(const Json& json, const std::string& name) {
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string text_in(const Json& json, const std::string& name) {
  if (!json.is_object()) return "";
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Step step_in(const Json& json, const std::string& name) {
  constexpr double kMost = 1e15;
  const double step = number_in(json, name).value_or(0);
  return step >= 1 && step <= kMost ? static_cast<Step>(step) : 0;
}

// Times go up to the step at which a run was stopped, metrics to the last logged one.
Step RunRecord::steps_done() const {
  const Step logged = steps.empty() ? 0 : step_in(steps.back());
  return timing.empty() ? logged : std::max(logged, step_in(timing.back()));
}

RunLength RunRecord::length() const {
  if (steps.empty()) return length_without_log(*this);
  const auto done = static_cast<double>(step_in(steps.back()));
  const double epoch = number_in(steps.back(), "epoch").value_or(0);
  const Step per_epoch = epoch > 0 ? std::max<Step>(1, std::llround(done / epoch)) : 1;
  if (!recipe) return {0, per_epoch};
  if (recipe->steps > 0) return {recipe->steps, per_epoch};
  if (epoch <= 0) return {0, 1};
  return {std::max<Step>(1, std::llround(recipe->epochs * done / epoch)), per_epoch};
}

RunRecord read_run_record(const fs::path& run_directory) {
  RunRecord record;
  record.directory = run_directory;
  std::error_code ignored;
  if (!fs::is_directory(run_directory, ignored)) {
    tell(record, "The run directory is not there (any more).");
    record.state = RunState::gone;
    return record;
  }
  read_recipe_into(record);
  read_metrics_into(record);
  record.timing = read_lines_into(record, "timing.jsonl");
  record.layers = read_lines_into(record, "layers.jsonl");
  record.summary = read_summary(record);
  record.stored_evaluations = read_stored_evaluations(record);
  record.state = state_of(record);
  tell_what_is_lost(record);
  return record;
}

}  // namespace bitcycle
