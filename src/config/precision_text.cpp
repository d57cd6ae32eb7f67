#include "bitcycle/config/precision_text.h"

#include "bitcycle/schedule/spec.h"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace bitcycle {
namespace {

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

}  // namespace

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

}  // namespace bitcycle
