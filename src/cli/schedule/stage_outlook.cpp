#include "cli/schedule/stage_outlook.h"

#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/config/loss_indicator.h"
#include "bitcycle/config/progressive_policy.h"
#include "bitcycle/report/table.h"
#include "bitcycle/schedule/compose.h"
#include "bitcycle/schedule/summary.h"

#include "base/json_text.h"
#include "cli/schedule/range_outlook.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

double cost_of(LayerBits bits, LayerBits reference) {
  return relative_cost(constant(bits.weight), constant(bits.error), 1,
                       {reference.weight, reference.error});
}

std::string period_text(const IndicatorRecipe& recipe) {
  return recipe.period > 0 ? fmt::format("{} steps", recipe.period) : "an epoch";
}

std::string earliest_text(const StageLimits& limits, const IndicatorRecipe& recipe) {
  if (limits.by_deadline) return fmt::format("{:g} of the run", *limits.latest);
  return recipe.period > 0 ? fmt::format("step {}", limits.earliest * recipe.period)
                           : fmt::format("epoch {}", limits.earliest);
}

std::string latest_text(const StageLimits& limits) {
  return limits.latest ? fmt::format("{:g} of the run", *limits.latest) : "never";
}

// What a period is of the run, where that is known without the data.
std::optional<double> period_fraction(const Recipe& run, const IndicatorRecipe& recipe) {
  if (recipe.period > 0 && run.steps > 0) {
    return static_cast<double>(recipe.period) / static_cast<double>(run.steps);
  }
  if (recipe.period == 0 && run.epochs > 0) return 1 / run.epochs;
  return std::nullopt;
}

// A stage may not begin before the loss could settle in the one before it, but a deadline that
// comes first begins it all the same. Periods of the run count from the last such deadline.
std::vector<StageLimits> stage_limits(const Recipe& run, const IndicatorRecipe& recipe,
                                      std::size_t stages) {
  const std::optional<double> period = period_fraction(run, recipe);
  double earliest = 0;  // fraction of the run
  const LossIndicator indicator({.epsilon = recipe.epsilon, .alpha = recipe.alpha});
  std::vector<StageLimits> all;
  for (std::size_t i = 0; i < stages; ++i) {
    StageLimits limits{.threshold = indicator.threshold_of(static_cast<int>(i)),
                       .earliest = static_cast<Step>(i) * recipe.window};
    if (i > 0 && !recipe.deadlines.empty()) limits.latest = recipe.deadlines[i - 1];
    if (i > 0 && period) {
      earliest += *period * recipe.window;
      limits.by_deadline = limits.latest && *limits.latest < earliest;
      if (limits.by_deadline) earliest = *limits.latest;
      limits.earliest = std::llround(earliest / *period);
    }
    all.push_back(limits);
  }
  return all;
}

// "ends below", "begins at the earliest", "at the latest" of stage i.
std::vector<std::string> limit_cells(const std::vector<StageLimits>& stages, std::size_t i,
                                     const IndicatorRecipe& recipe) {
  const bool first = i == 0, last = i + 1 == stages.size();
  return {last ? "-" : fmt::format("{:.4g}", stages[i].threshold),
          first ? "at once" : earliest_text(stages[i], recipe),
          first ? "at once" : latest_text(stages[i])};
}

std::string ending_text(const IndicatorRecipe& recipe) {
  return fmt::format(
      "A stage ends once the mean loss of each of the last {} periods ({} each) is within that\n"
      "threshold of the newest, in units of the mean of the first {}.",
      recipe.window, period_text(recipe), recipe.normalising);
}

Json limits_json(const StageLimits& limits) {
  return {{"threshold", limits.threshold},
          {"earliest_period", limits.earliest},
          {"latest_fraction", limits.latest ? Json(*limits.latest) : Json()}};
}

Json indicator_json(const IndicatorRecipe& recipe) {
  return {{"period_steps", recipe.period > 0 ? Json(recipe.period) : Json()},
          {"window", recipe.window},
          {"normalising", recipe.normalising}};
}

std::string gates_text(const Recipe& run, const std::string& title) {
  const DynamicRecipe& recipe = *run.precision.dynamic;
  const std::vector<StageLimits> limits = stage_limits(run, recipe, recipe.target.size());
  Table table({"stage", "target", "ends below", "begins at the earliest", "at the latest"});
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const auto cells = limit_cells(limits, i, recipe);
    table.add_row(
        {std::to_string(i + 1), target_text(recipe.target[i]), cells[0], cells[1], cells[2]});
  }
  std::vector<std::string> options;
  for (const PrecisionOption& option : recipe.options) options.push_back(to_text(option));
  return fmt::format(
      "{}: bits that gates choose for each sample; what they choose, only a run can tell\n"
      "{}-bit weights; [activation, error] bits: {}\n\n{}\n{}`bitcycle cost RECIPE` says what the "
      "options cost.\n",
      title, *recipe.weight, fmt::join(options, ", "), table.text(),
      limits.size() > 1 ? ending_text(recipe) + "\n" : "");
}

std::string gates_json(const Recipe& run) {
  const DynamicRecipe& recipe = *run.precision.dynamic;
  Json options = Json::array(), stages = Json::array();
  for (const PrecisionOption& option : recipe.options) {
    options.push_back({{"activation_bits", option.activation}, {"error_bits", option.error}});
  }
  const std::vector<StageLimits> limits = stage_limits(run, recipe, recipe.target.size());
  for (std::size_t i = 0; i < limits.size(); ++i) {
    Json stage = {{"cp_percent", recipe.target[i]}};
    stage.update(limits_json(limits[i]));
    stages.push_back(std::move(stage));
  }
  Json json = {{"policy", "dynamic"}, {"weight_bits", *recipe.weight}, {"options", options}};
  json.update(indicator_json(recipe));
  json["stages"] = std::move(stages);
  return json_text(json, 2) + "\n";
}

}  // namespace

std::vector<StageOutlook> stage_outlook(const Recipe& recipe) {
  const ProgressiveRecipe& progressive = *recipe.precision.progressive;
  const std::vector<LayerBits> stages = stages_of(progressive);
  const std::vector<StageLimits> limits = stage_limits(recipe, progressive, stages.size());
  std::vector<StageOutlook> outlook;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    outlook.push_back({stages[i], limits[i], cost_of(stages[i], stages.back())});
  }
  return outlook;
}

std::string outlook_text(const Recipe& recipe, const std::string& title) {
  if (recipe.precision.dynamic) return gates_text(recipe, title);
  if (is_automatic(recipe.precision)) return range_outlook_text(recipe, title);
  const ProgressiveRecipe& stages = *recipe.precision.progressive;
  const std::vector<StageOutlook> outlook = stage_outlook(recipe);
  const std::vector<StageLimits> limits = stage_limits(recipe, stages, outlook.size());
  Table table({"stage", "bits", "ends below", "begins at the earliest", "at the latest", "cost"});
  for (std::size_t i = 0; i < outlook.size(); ++i) {
    const auto cells = limit_cells(limits, i, stages);
    table.add_row({std::to_string(i + 1), to_text(outlook[i].bits), cells[0], cells[1], cells[2],
                   fmt::format("{:.4f}", outlook[i].relative_cost)});
  }
  return fmt::format(
      "{}: bits that follow the loss; when they rise, only a run can tell\n\n{}\n"
      "{} Cost is that of a step,\n"
      "against static {}. `bitcycle schedule --run RUN` draws the bits that a run really had.\n",
      title, table.text(), ending_text(stages), to_text(outlook.back().bits));
}

std::string outlook_json(const Recipe& recipe) {
  if (recipe.precision.dynamic) return gates_json(recipe);
  if (is_automatic(recipe.precision)) return range_outlook_json(recipe);
  const ProgressiveRecipe& stages = *recipe.precision.progressive;
  Json list = Json::array();
  for (const StageOutlook& stage : stage_outlook(recipe)) {
    Json entry = {{"weight_bits", stage.bits.weight},
                  {"activation_bits", stage.bits.activation},
                  {"error_bits", stage.bits.error}};
    entry.update(limits_json(stage.limits));
    entry["relative_cost"] = stage.relative_cost;
    list.push_back(std::move(entry));
  }
  Json json = {{"policy", "progressive"}};
  json.update(indicator_json(stages));
  json["stages"] = std::move(list);
  return json_text(json, 2) + "\n";
}

}  // namespace bitcycle::cli
