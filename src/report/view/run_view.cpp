#include "report/view/run_view.h"

#include "bitcycle/config/task_kind.h"
#include "bitcycle/report/run_group.h"

#include "report/view/landscape_view.h"
#include "report/view/overview.h"
#include "report/view/point_series.h"
#include "report/view/precision_view.h"
#include "report/view/run_record.h"
#include "report/view/sweep_place.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

// In a line of a step, but no metric of the task.
const std::set<std::string> kOther = {
    "type",       "step",    "epoch",          "lr",     "weight_bits", "activation_bits",
    "error_bits", "gbitops", "gbitops_static", "choices"};

PointSeries series_of(const std::vector<Json>& lines, const std::string& name) {
  PointSeries series;
  for (const Json& line : lines) {
    if (line.contains(name)) {
      series.add(*number_in(line, "step"), number_in(line, name).value_or(kGap));
    }
  }
  return series;
}

Json curve(const std::vector<Json>& lines, const std::string& name, const ViewOptions& options) {
  return to_json(thinned(series_of(lines, name), options.points));
}

// Metrics of the task, in the order in which lines have them. What is never a number is none.
std::vector<std::string> metrics_in(const std::vector<Json>& steps) {
  std::vector<std::string> names;
  std::set<std::string> known = kOther;
  for (const Json& line : steps) {
    for (const auto& [name, value] : line.items()) {
      const bool metric = value.is_number() || value.is_null();
      if (metric && known.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

Json training_curves(const RunRecord& record, const ViewOptions& options) {
  Json json = Json::object();
  for (const std::string& name : metrics_in(record.steps)) {
    json[name] = curve(record.steps, name, options);
  }
  return json;
}

bool is_metric(const std::string& name, const Json& value) {
  static const std::set<std::string> other = {"type", "step",    "split", "bits",
                                              "best", "samples", "tokens"};
  return !other.contains(name) && (value.is_number() || value.is_null());
}

// By split and metric. The last evaluations may be of earlier weights, so steps are put in order.
Json evaluation_curves(const RunRecord& record, const ViewOptions& options) {
  std::map<std::string, std::map<std::string, std::map<double, double>>> curves;
  for (const Json& line : record.evaluations) {
    const auto step = number_in(line, "step");
    if (!step) continue;
    for (const auto& [name, value] : line.items()) {
      if (!is_metric(name, value)) continue;
      curves[text_in(line, "split")][name][*step] = value.is_number() ? value.get<double>() : kGap;
    }
  }
  Json json = Json::object();
  for (const auto& [split, metrics] : curves) {
    for (const auto& [name, points] : metrics) {
      PointSeries series;
      for (const auto& [step, value] : points) series.add(step, value);
      json[split][name] = to_json(thinned(series, options.points));
    }
  }
  return json;
}

Json cost_curves(const RunRecord& record, const ViewOptions& options) {
  const PointSeries fixed = series_of(record.steps, "gbitops_static");
  if (fixed.empty()) return nullptr;
  Json json = {{"spent", curve(record.steps, "gbitops", options)},
               {"static", to_json(thinned(fixed, options.points))}};
  const double factor = record.recipe ? float_over_static(*record.recipe) : 0;
  if (factor <= 0) return json;
  PointSeries in_float = fixed;
  for (double& y : in_float.y) y *= factor;
  json["float"] = to_json(thinned(in_float, options.points));
  return json;
}

PointSeries seconds_per_step(const RunRecord& record) {
  PointSeries series;
  double before = 0;
  for (const Json& line : record.timing) {
    const double step = *number_in(line, "step");
    const auto seconds = number_in(line, "seconds");
    if (seconds && step > before) series.add(step, *seconds / (step - before));
    before = step;
  }
  return series;
}

struct Measured {
  double steps = 0, seconds = 0;
};

// Each line of timing.jsonl says how many steps there were at which bits, and their time.
Json times_by_bits(const RunRecord& record) {
  std::map<std::string, Measured> measured;
  for (const Json& line : record.timing) {
    for (const Json& entry : line.value("by_bits", Json::array())) {
      Measured& sum = measured[text_in(entry, "bits")];
      sum.steps += number_in(entry, "steps").value_or(0);
      sum.seconds += number_in(entry, "seconds").value_or(0);
    }
  }
  Json list = Json::array();
  for (const auto& [bits, sum] : measured) {
    if (sum.steps <= 0) continue;
    list.push_back({{"bits", bits},
                    {"steps", rounded(sum.steps)},
                    {"seconds_per_step", rounded(sum.seconds / sum.steps)}});
  }
  return list;
}

Json time_view(const RunRecord& record, const ViewOptions& options) {
  if (record.timing.empty()) return nullptr;
  return {{"per_step", to_json(thinned(seconds_per_step(record), options.points))},
          {"by_bits", times_by_bits(record)}};
}

// layers.jsonl by layer and role: {"<layer>": {"<role>": {"low": series, ...}}}. There are many
// layers, so each curve gets fewer points.
Json layer_statistics(const RunRecord& record, const ViewOptions& options) {
  std::map<std::string, std::map<std::string, std::map<std::string, PointSeries>>> curves;
  std::vector<std::string> order;
  for (const Json& line : record.layers) {
    const double step = *number_in(line, "step");
    const Json layers = line.value("layers", Json::object());
    if (!layers.is_object()) continue;
    for (const auto& [layer, roles] : layers.items()) {
      if (!roles.is_object()) continue;
      if (!curves.contains(layer)) order.push_back(layer);
      for (const auto& [role, values] : roles.items()) {
        for (const char* name : {"bits", "low", "high", "sqnr_db"}) {
          if (!values.is_object() || !values.contains(name)) continue;
          curves[layer][role][name].add(step, number_in(values, name).value_or(kGap));
        }
      }
    }
  }
  if (order.empty()) return nullptr;
  const std::size_t points = std::max<std::size_t>(8, 6 * options.points / order.size() / 4);
  Json json = Json::object();
  for (const std::string& layer : order) {
    for (const auto& [role, values] : curves[layer]) {
      for (const auto& [name, series] : values) {
        json[layer][role][name] = to_json(thinned(series, std::min<std::size_t>(points, 120)));
      }
    }
  }
  return json;
}

Json widths_view(const RunRecord& record) {
  Json list = Json::array();
  if (!record.stored_evaluations.is_object()) return list;
  for (const Json& entry : record.stored_evaluations.value("evaluations", Json::array())) {
    if (entry.is_object() && entry.value("metrics", Json()).is_object()) list.push_back(entry);
  }
  return list;
}

std::string group_of(const RunRecord& record) {
  return record.recipe ? run_group(*record.recipe) : "";
}

}  // namespace

Json run_view(const std::filesystem::path& run_directory, const std::string& name,
              const ViewOptions& options) {
  RunRecord record = read_run_record(run_directory);
  Json precision = precision_view(record, options);
  Json landscapes = landscape_views(run_directory, record.notices);
  Json sweep = options.sweeps ? sweep_place(run_directory, record.notices) : Json();
  return {{"name", name},
          {"group", group_of(record)},
          {"sweep", std::move(sweep)},
          {"overview", overview(record)},
          {"training", training_curves(record, options)},
          {"evaluations", evaluation_curves(record, options)},
          {"learning_rate", curve(record.steps, "lr", options)},
          {"precision", std::move(precision)},
          {"cost", cost_curves(record, options)},
          {"time", time_view(record, options)},
          {"layers", layer_statistics(record, options)},
          {"widths", widths_view(record)},
          {"landscapes", std::move(landscapes)},
          {"recipe", record.recipe_text},
          {"notices", record.notices}};
}

}  // namespace bitcycle
