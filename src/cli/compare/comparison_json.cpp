#include "cli/compare/comparison_text.h"
#include "events/stage_json.h"

#include <cmath>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

const char* state_name(SummaryState state) {
  switch (state) {
    case SummaryState::finished:
      return "finished";
    case SummaryState::unfinished:
      return "unfinished";
    case SummaryState::failed:
      return "failed";
    case SummaryState::unreadable:
      return "unreadable";
  }
  return "";
}

Json run_json(const RunSummary& run) {
  Json json = {{"run", run.run}, {"state", state_name(run.state)}};
  if (!run.trouble.empty()) json["trouble"] = run.trouble;
  if (run.state == SummaryState::unreadable) return json;
  const bool finished = run.state == SummaryState::finished;
  json.update({{"model", run.recipe.model.name},
               {"dataset", run.recipe.data.dataset},
               {"seed", run.recipe.seed},
               {"step", run.step},
               {"steps", run.total == 0 ? Json() : Json(run.total)},
               {"precision", run.precision},
               {"backend", run.backend.empty() ? Json() : Json(run.backend)},
               {"scheme", run.scheme},
               {run.score.metric.name, finished ? or_null(run.score.value) : Json()},
               {"counting", name(run.counting)},
               {"gbitops", run.gbitops},
               {"saving_percent", run.saving_percent},
               {"training_seconds", or_null(run.training_seconds)},
               {"machine", run.machine.empty() ? Json() : Json(run.machine)}});
  for (const StageChange& change : run.stages) json["stages"].push_back(to_json(change));
  return json;
}

Json difference_json(const Difference& difference) {
  return {{"value", difference.value},
          {"standard_error", or_null(difference.error)},
          {"degrees_of_freedom", or_null(difference.degrees)},
          {"by", difference.pairing == Pairing::same_seed ? "same-seed pairs" : "Welch"},
          {"pairs", difference.pairs}};
}

Json group_json(const Comparison& comparison, const RunGroup& group) {
  Json runs = Json::array();
  for (const std::size_t i : group.runs) runs.push_back(comparison.runs[i].run);
  Json json = {{"name", group.name}, {"runs", std::move(runs)}};
  if (group.score) {
    json["metric"] = comparison.first(group).score.metric.name;
    json["seeds"] = group.score->count;
    json["mean"] = group.score->mean;
    json["standard_deviation"] = or_null(group.score->deviation);
    json["standard_error"] = or_null(group.score->error);
  }
  json["gbitops"] = or_null(group.gbitops);
  json["saving_percent"] = or_null(group.saving_percent);
  json["training_seconds"] = or_null(group.seconds);
  if (!group.baseline) return json;
  const RunGroup& baseline = comparison.groups[*group.baseline];
  json["baseline"] = baseline.name;
  if (group.difference) json["difference"] = difference_json(*group.difference);
  json["time_saved_percent"] = or_null(group.time_saved_percent);
  json["cost_saved_of_baseline_percent"] = or_null(group.cost_saved_of_baseline_percent);
  return json;
}

}  // namespace

Json comparison_json(const Comparison& comparison) {
  Json runs = Json::array(), groups = Json::array(), keys = Json::object();
  for (const RunSummary& run : comparison.runs) runs.push_back(run_json(run));
  for (const RunGroup& group : comparison.groups) groups.push_back(group_json(comparison, group));
  for (const auto& [key, values] : comparison.keys) keys[key] = values;
  const bool by_baseline = comparison.cost_reference == CostReference::baseline;
  return {{"runs", std::move(runs)},
          {"groups", std::move(groups)},
          {"cost_saved", by_baseline ? "cost_saved_of_baseline_percent" : "saving_percent"},
          {"differing_keys", keys}};
}

}  // namespace bitcycle::cli
