#include "report/view/overview.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/make_policy.h"
#include "bitcycle/cost/cost_model.h"
#include "bitcycle/cost/run_cost.h"
#include "bitcycle/report/precision_text.h"

#include "report/view/point_series.h"
#include "report/view/precision_view.h"
#include "report/view/run_overview.h"

#include <algorithm>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

const char* form_name(MetricForm form) {
  return form == MetricForm::percent ? "percent"
         : form == MetricForm::mean  ? "mean"
                                     : "exponential";
}

Json metric_json(const Metric& metric) {
  return {{"name", metric.name},
          {"form", form_name(metric.form)},
          {"better", metric.better == Better::higher ? "higher" : "lower"}};
}

Json score_json(const std::optional<OverviewScore>& score) {
  if (!score) return nullptr;
  return {{"value", rounded(score->value)},
          {"step", score->step},
          {"split", score->split},
          {"bits", evaluation_text(score->bits, score->widths)}};
}

void add_recipe(Json& json, const RunOverview& run, const Recipe& recipe) {
  json.update({{"model", run.model},
               {"dataset", run.dataset},
               {"seed", *run.seed},
               {"batch_size", recipe.data.batch_size},
               {"precision", run.precision},
               {"scheme", run.scheme},
               {"metric", metric_json(*run.metric)},
               {"best", score_json(run.best)},
               {"test", score_json(run.test)}});
  if (!run.averaged) return;
  json["averaged"] = score_json(run.averaged->test);
  json["averaged"]["points"] = run.averaged->points;
}

void add_cost(Json& json, const RunOverview& run, const std::optional<Recipe>& recipe) {
  if (!run.cost) return;
  const double spent = run.cost->gbitops, fixed = run.cost->gbitops_static;
  json["gbitops"] = rounded(spent);
  json["gbitops_static"] = rounded(fixed);
  json["saving_percent"] = rounded(run.cost->saving_percent);
  if (run.cost->step < run.steps_done) json["cost_step"] = run.cost->step;
  const double factor = recipe ? float_over_static(*recipe) : 0;
  if (factor <= 0) return;
  json["gbitops_float"] = rounded(factor * fixed);
  json["saving_float_percent"] = rounded(saving_percent(spent, factor * fixed));
}

bool is_machine(const Json& json) {
  if (text_in(json, "processor").empty() || !number_in(json, "threads")) return false;
  return json.value("isa", Json("")).is_string();
}

void add_time(Json& json, const RunOverview& run, const std::vector<Json>& timing) {
  if (!run.seconds) return;
  for (const Json& line : timing) {
    const Json machine = line.value("machine", Json());
    if (is_machine(machine)) json["machine"] = machine;
  }
  json["seconds"] = rounded(*run.seconds);
  const auto last = number_in(timing.back(), "step");
  if (last && *last > 0) json["seconds_per_step"] = rounded(*run.seconds / *last);
}

}  // namespace

double float_over_static(const Recipe& recipe) {
  try {
    const CostModel model(layers_of(recipe), Counting::paper);
    const auto policy = make_policy(recipe.precision, layers_of(recipe), {1000, 1});
    const double reference =
        model.sample_cost(policy->reference().counted).total() - model.gates_cost().total();
    const LayerBits full{};
    const std::vector<LayerBits> all(model.layers().size(), full);
    const double in_float = model.sample_cost(all).total() - model.gates_cost().total();
    return reference > 0 ? in_float / reference : 0;
  } catch (const Error&) {
    return 0;
  }
}

Json overview(const RunRecord& record) {
  const RunOverview run = run_overview(record);
  Json json = {{"state", state_name(run.state)},
               {"steps_done", run.steps_done},
               {"steps_total", std::max(run.steps_total, run.steps_done)}};
  if (run.epoch) json["epoch"] = rounded(*run.epoch);
  if (record.recipe) add_recipe(json, run, *record.recipe);
  json["backend"] = run.backend;
  json["counting"] = run.counting;
  add_cost(json, run, record.recipe);
  add_time(json, run, record.timing);
  return json;
}

}  // namespace bitcycle
