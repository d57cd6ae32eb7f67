#include "report/view/step_bits_source.h"

#include "bitcycle/config/make_policy.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/progressive_policy.h"
#include "bitcycle/config/range_plans.h"
#include "bitcycle/schedule/summary.h"

#include "report/view/gate_choices.h"

#include <algorithm>
#include <iterator>
#include <memory>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

constexpr Step kMostSteps = 100'000;  // to look at

MeanBits counted(const LayerBits& bits) {
  return {static_cast<double>(counted_bits(bits.weight)),
          static_cast<double>(counted_bits(bits.activation)),
          static_cast<double>(counted_bits(bits.error))};
}

LayersAtStep counted(const StepBits& bits) {
  LayersAtStep result{counted(bits.common), {}};
  for (const LayerBits& layer : bits.layers) result.layers.push_back(counted(layer));
  return result;
}

std::vector<Json> lines_with_bits(const std::vector<Json>& log) {
  std::vector<Json> lines;
  std::ranges::copy_if(log, std::back_inserter(lines), tells_bits);
  return lines;
}

// Each logged step speaks for those since the one before.
const Json& line_of(const std::vector<Json>& log, Step step) {
  const auto line = std::ranges::lower_bound(
      log, static_cast<double>(step + 1), {},
      [](const Json& logged) { return number_in(logged, "step").value_or(0); });
  return line == log.end() ? log.back() : *line;
}

std::vector<std::string> names_of(const std::vector<LayerInfo>& layers) {
  std::vector<std::string> names;
  for (const LayerInfo& layer : layers) names.push_back(layer.name);
  return names;
}

StepBitsSource scheduled_source(const RunRecord& record, const std::vector<LayerInfo>& layers) {
  std::shared_ptr<PrecisionPolicy> policy =
      make_policy(record.recipe->precision, layers, record.length());
  return {.layers = names_of(layers),
          .at = [policy](Step step) { return counted(policy->decide(step)); },
          .foreseen = true};
}

StepBitsSource staged_source(const RunRecord& record, const std::vector<LayerInfo>& layers) {
  auto policy =
      std::make_shared<ProgressivePolicy>(record.recipe->precision, layers, record.length());
  const auto at = [policy, changes = record.stages](Step step) {
    const auto begun = static_cast<std::size_t>(std::ranges::count_if(
        changes, [&](const StageChange& change) { return change.step <= step; }));
    const auto& stages = policy->stages();
    return counted(stages[std::min(begun, stages.size() - 1)].decide(step));
  };
  return {.layers = names_of(layers), .at = at};
}

StepBitsSource tested_source(const RunRecord& record, const std::vector<LayerInfo>& layers) {
  auto plans = std::make_shared<RangePlans>(record.recipe->precision, layers, record.length());
  const auto at = [plans, phases = plans->phases(record.stages)](Step step) {
    return counted(plans->decide(phases, step));
  };
  return {.layers = names_of(layers), .at = at};
}

StepBitsSource gated_source(const RunRecord& record, const std::vector<LayerInfo>& layers) {
  std::shared_ptr<PrecisionPolicy> policy =
      make_policy(record.recipe->precision, layers, record.length());
  const auto at = [policy, log = lines_with_bits(record.steps),
                   recipe = *record.recipe->precision.dynamic](Step step) {
    LayersAtStep result = counted(policy->decide(step));
    if (log.empty()) return result;
    const Json& line = line_of(log, step);
    const BlockShares choices = choices_in(line, recipe.options.size()).value_or(BlockShares());
    for (std::size_t i = 0; i < result.layers.size(); ++i) {
      const int block = policy->layers()[i].block;
      if (block < 0 || static_cast<std::size_t>(block) >= choices.size()) continue;
      result.layers[i] = chosen_bits(recipe, choices[static_cast<std::size_t>(block)]).bits;
    }
    result.common = choices.empty() ? logged_bits(line) : chosen_bits(recipe, choices).bits;
    return result;
  };
  return {.layers = names_of(layers), .at = at, .means = true, .logged = true};
}

StepBitsSource logged_source(const RunRecord& record) {
  const auto at = [log = lines_with_bits(record.steps)](Step step) {
    const MeanBits bits = logged_bits(line_of(log, step));
    return LayersAtStep{bits, {bits}};
  };
  return {.layers = {"all layers"},
          .at = at,
          .logged = true,
          .notice =
              "The bits are those that were logged: the recipe says otherwise, and was "
              "probably changed under way."};
}

bool agrees(const StepBitsSource& source, const std::vector<Json>& log) {
  return std::ranges::all_of(log, [&](const Json& line) {
    if (!tells_bits(line)) return true;
    const MeanBits logged = logged_bits(line);
    const MeanBits told = source.at(step_in(line) - 1).common;
    return logged.weight == told.weight && logged.activation == told.activation &&
           logged.error == told.error;
  });
}

StepBitsSource explained_source(const RunRecord& record, const std::vector<LayerInfo>& layers) {
  const PrecisionRecipe& precision = record.recipe->precision;
  if (precision.progressive) return staged_source(record, layers);
  if (precision.dynamic) return gated_source(record, layers);
  if (is_automatic(precision)) return tested_source(record, layers);
  return scheduled_source(record, layers);
}

}  // namespace

MeanBits logged_bits(const Json& line) {
  const auto bits = [&](const char* role) {
    return static_cast<int>(number_in(line, role).value_or(0));
  };
  return counted(LayerBits{bits("weight_bits"), bits("activation_bits"), bits("error_bits")});
}

bool tells_bits(const Json& line) {
  return number_in(line, "weight_bits") && number_in(line, "activation_bits") &&
         number_in(line, "error_bits");
}

bool knows_bits(const RunRecord& record) {
  if (!record.recipe) return false;
  if (!record.steps.empty()) return true;
  return record.length().steps > 0 && !is_closed_loop(record.recipe->precision);
}

std::vector<Step> looked_at(Step steps) {
  const Step stride = std::max<Step>(1, (steps + kMostSteps - 1) / kMostSteps);
  std::vector<Step> result;
  for (Step step = 0; step < steps; step += stride) result.push_back(step);
  return result;
}

StepBitsSource step_bits_source(const RunRecord& record, std::vector<LayerInfo> layers) {
  StepBitsSource source = explained_source(record, layers);
  // What gates chose is the log's, and means agree with nothing that was rounded.
  return source.means || agrees(source, record.steps) ? source : logged_source(record);
}

}  // namespace bitcycle
