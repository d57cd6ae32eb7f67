#include "report/view/overview.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/make_policy.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/cost/cost_model.h"
#include "bitcycle/cost/run_cost.h"
#include "bitcycle/report/precision_text.h"

#include "report/view/point_series.h"
#include "report/view/precision_view.h"

#include <algorithm>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name(RunState state) {
  switch (state) {
    case RunState::finished:
      return "finished";
    case RunState::running:
      return "running";
    case RunState::stopped:
      return "stopped";
  }
  return "stopped";
}

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

Json score_json(const Json& line, const Metric& metric) {
  return {{"value", rounded(*number_in(line, metric.name))},
          {"step", rounded(number_in(line, "step").value_or(0))},
          {"split", text_in(line, "split")},
          {"bits", text_in(line, "bits")}};
}

// The best evaluation so far, on the split that chooses.
Json best_json(const RunRecord& record, const Metric& metric) {
  const Json* best = nullptr;
  for (const Json& line : record.evaluations) {
    const auto value = number_in(line, metric.name);
    if (!value || line.value("best", Json()) != true) continue;
    if (text_in(line, "split") == "test" && best != nullptr) continue;
    best = &line;
  }
  return best == nullptr ? Json() : score_json(*best, metric);
}

// Of the best weights, once the run is finished.
Json test_json(const RunRecord& record, const Metric& metric) {
  const Json test =
      record.summary.is_object() ? record.summary.value("test_of_best", Json()) : Json();
  const auto value = number_in(test, metric.name);
  if (!value) return nullptr;
  return {{"value", rounded(*value)},
          {"step", rounded(number_in(record.summary, "best_step").value_or(0))},
          {"split", "test"},
          {"bits", text_in(record.summary, "evaluation_bits")}};
}

void add_recipe(Json& json, const Recipe& recipe, const RunRecord& record) {
  const Metric& metric = metrics_of(task_of(recipe.model.name)).primary();
  json.update({{"model", recipe.model.name},
               {"dataset", recipe.data.dataset},
               {"seed", recipe.seed},
               {"batch_size", recipe.data.batch_size},
               {"precision", precision_text(recipe.precision)},
               {"metric", metric_json(metric)},
               {"best", best_json(record, metric)},
               {"test", test_json(record, metric)}});
}

void add_cost(Json& json, const RunRecord& record) {
  if (record.steps.empty()) return;
  const auto spent = number_in(record.steps.back(), "gbitops");
  const auto fixed = number_in(record.steps.back(), "gbitops_static");
  if (!spent || !fixed || *fixed <= 0) return;
  json["gbitops"] = rounded(*spent);
  json["gbitops_static"] = rounded(*fixed);
  json["saving_percent"] = rounded(saving_percent(*spent, *fixed));
  const double factor = record.recipe ? float_over_static(*record.recipe) : 0;
  if (factor <= 0) return;
  json["gbitops_float"] = rounded(factor * *fixed);
  json["saving_float_percent"] = rounded(saving_percent(*spent, factor * *fixed));
}

void add_time(Json& json, const RunRecord& record) {
  double seconds = 0;
  for (const Json& line : record.timing) {
    seconds += number_in(line, "seconds").value_or(0);
    if (line.contains("machine") && line["machine"].is_object()) json["machine"] = line["machine"];
  }
  if (record.timing.empty()) return;
  json["seconds"] = rounded(seconds);
  const auto last = number_in(record.timing.back(), "step");
  if (last && *last > 0) json["seconds_per_step"] = rounded(seconds / *last);
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
  const RunLength length = record.length();
  Json json = {{"state", name(record.state)},
               {"steps_done", record.steps_done()},
               {"steps_total", std::max(length.steps, record.steps_done())}};
  if (!record.steps.empty())
    json["epoch"] = rounded(number_in(record.steps.back(), "epoch").value_or(0));
  if (record.recipe) add_recipe(json, *record.recipe, record);
  json["backend"] = text_in(record.start, "backend");
  json["counting"] = text_in(record.start, "counting");
  add_cost(json, record);
  add_time(json, record);
  return json;
}

}  // namespace bitcycle
