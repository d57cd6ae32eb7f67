#include "report/view/run_overview.h"

#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/cost/run_cost.h"
#include "bitcycle/report/precision_text.h"

#include "events/evaluations_json.h"
#include "report/view/gate_choices.h"

#include <algorithm>
#include <cmath>
#include <ranges>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

std::optional<OverviewScore> score_in(const Json& line, const std::string& metric, Step step,
                                      const std::string& split, const std::string& bits) {
  const auto value = number_in(line, metric);
  if (!value) return std::nullopt;
  return OverviewScore{*value, step, split, bits};
}

// The last evaluation that was the best so far; those of the test set at the end come after it.
std::optional<OverviewScore> best_of(const RunRecord& record, const Metric& metric) {
  std::optional<OverviewScore> best;
  for (const Json& line : record.evaluations) {
    if (line.value("best", Json()) != true) continue;
    if (best && text_in(line, "split") != best->split) continue;
    const auto step = step_in(line);
    const auto score =
        score_in(line, metric.name, step, text_in(line, "split"), text_in(line, "bits"));
    if (score) best = score;
  }
  return best;
}

std::optional<OverviewScore> test_of(const Json& summary, const Metric& metric) {
  if (!summary.is_object()) return std::nullopt;
  const auto step = step_in(summary, "best_step");
  return score_in(summary.value("test_of_best", Json()), metric.name, step, "test",
                  text_in(summary, "evaluation_bits"));
}

std::optional<OverviewAverage> averaged_of(const Json& summary, const Metric& metric) {
  if (!summary.is_object()) return std::nullopt;
  const Json averaged = summary.value("averaged", Json());
  const auto score =
      score_in(averaged.is_object() ? averaged.value("test", Json()) : Json(), metric.name,
               step_in(summary, "steps"), "test", text_in(summary, "evaluation_bits"));
  if (!score) return std::nullopt;
  return OverviewAverage{step_in(averaged, "points"), *score};
}

// By the last logged step that tells it.
std::optional<OverviewCost> cost_of(const RunRecord& record) {
  for (const Json& line : std::views::reverse(record.steps)) {
    const auto spent = number_in(line, "gbitops"), fixed = number_in(line, "gbitops_static");
    if (spent && fixed && *fixed > 0) {
      return OverviewCost{*spent, *fixed, saving_percent(*spent, *fixed), step_in(line)};
    }
  }
  return std::nullopt;
}

std::optional<double> epoch_of(const RunRecord& record) {
  if (record.steps.empty()) return std::nullopt;
  const auto done = static_cast<double>(record.steps_done());
  return done / static_cast<double>(record.length().steps_per_epoch);
}

std::optional<double> seconds_of(const RunRecord& record) {
  if (record.timing.empty()) return std::nullopt;
  double seconds = 0;
  for (const Json& line : record.timing) seconds += number_in(line, "seconds").value_or(0);
  return seconds;
}

// Of the last logged step that tells them.
std::vector<OverviewChoice> choices_of(const RunRecord& record) {
  if (!record.recipe || !record.recipe->precision.dynamic) return {};
  const auto& options = record.recipe->precision.dynamic->options;
  for (const Json& line : std::views::reverse(record.steps)) {
    const auto shares = choices_in(line, options.size());
    if (!shares) continue;
    const std::vector<double> mean = over_blocks(*shares);
    std::vector<OverviewChoice> choices;
    for (std::size_t i = 0; i < options.size(); ++i) {
      choices.push_back({to_text(options[i]), mean[i]});
    }
    return choices;
  }
  return {};
}

// What stands in a damaged file may be no width at all.
void resolve_bits(OverviewScore& score, const RunRecord& record) {
  const Recipe& recipe = *record.recipe;
  if (score.bits != recipe.evaluation.bits) return;
  score.widths = evaluation_widths(recipe.precision, score.bits, score.step, record.length());
}

void add_recipe(RunOverview& overview, const RunRecord& record) {
  const Recipe& recipe = *record.recipe;
  overview.model = recipe.model.name;
  overview.dataset = recipe.data.dataset;
  overview.seed = recipe.seed;
  overview.precision = precision_text(recipe.precision);
  overview.scheme = scheme_text(recipe.precision, overview.backend);
  overview.metric = metrics_of(task_of(recipe.model.name)).primary();
  overview.best = best_of(record, *overview.metric);
  overview.test = test_of(record.summary, *overview.metric);
  overview.averaged = averaged_of(record.summary, *overview.metric);
  if (overview.best) resolve_bits(*overview.best, record);
  if (overview.test) resolve_bits(*overview.test, record);
  if (overview.averaged) resolve_bits(overview.averaged->test, record);
}

}  // namespace

std::string state_name(RunState state) {
  if (state == RunState::finished) return "finished";
  if (state == RunState::gone) return "gone";
  return state == RunState::running ? "running" : "stopped";
}

RunOverview run_overview(const RunRecord& record) {
  const Step total = record.length().steps;
  RunOverview overview{.run = record.directory.string(),
                       .model = text_in(record.summary, "model"),
                       .dataset = text_in(record.summary, "dataset"),
                       .precision = "",
                       .backend = text_in(record.start, "backend"),
                       .scheme = "",
                       .counting = text_in(record.start, "counting"),
                       .seed = {},
                       .state = record.state,
                       .steps_done = record.steps_done(),
                       .steps_total = total == 0 ? 0 : std::max(total, record.steps_done()),
                       .epoch = epoch_of(record),
                       .metric = {},
                       .best = {},
                       .test = {},
                       .averaged = {},
                       .cost = cost_of(record),
                       .seconds = seconds_of(record),
                       .choices = choices_of(record),
                       .stages = record.stages,
                       .evaluations = evaluations_in(record.stored_evaluations),
                       .notices = record.notices};
  if (record.recipe) add_recipe(overview, record);
  if (record.steps.empty() && record.state != RunState::finished) {
    overview.notices.push_back("No steps are logged yet.");
  }
  return overview;
}

}  // namespace bitcycle
