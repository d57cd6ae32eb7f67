#include "bitcycle/config/dynamic_policy.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/chosen_bits.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace bitcycle {
namespace {

using Complaint = std::optional<StageComplaint>;

bool is_width(int bits) {
  return bits >= kMinBits && bits <= kMaxBits;
}

Complaint option_complaint(PrecisionOption option) {
  const auto [activation, error] = option;
  if (option.skips() || (is_width(activation) && is_width(error))) return {};
  if (activation == 0 || error == 0) {
    return {{"options",
             fmt::format("expected bits for activations and errors, or [0, 0] to skip the block, "
                         "found [{}, {}]",
                         activation, error),
             "An option has no part in float."}};
  }
  return {{"options",
           fmt::format("expected widths from {} to {}, found [{}, {}]", kMinBits, kMaxBits,
                       activation, error),
           ""}};
}

Complaint number_complaint(const std::vector<PrecisionOption>& options) {
  if (options.empty()) {
    return {{"options", "expected what the gates may choose, found none",
             "Add options = \"cifar\", options = \"imagenet\" or, for instance, options = [[3, 6], "
             "[4, 8]]."}};
  }
  if (options.size() > 1) return {};
  return {{"options", "expected at least 2 options, found 1",
           "For the same bits throughout, leave out [precision.dynamic] and give precision.weight, "
           "precision.activation and precision.backward."}};
}

Complaint options_complaint(const std::vector<PrecisionOption>& options) {
  if (auto complaint = number_complaint(options)) return complaint;
  for (auto option = options.begin(); option != options.end(); ++option) {
    if (auto complaint = option_complaint(*option)) return complaint;
    if (std::find(options.begin(), option, *option) == option) continue;
    return {{"options",
             fmt::format("expected options that differ, found [{}, {}] twice", option->activation,
                         option->error),
             "Leave one of them out."}};
  }
  return {};
}

Complaint weight_complaint(const std::optional<int>& weight) {
  if (weight && is_width(*weight)) return {};
  return {{"weight",
           fmt::format("expected the bits of weights, {} to {}, found {}", kMinBits, kMaxBits,
                       weight ? std::to_string(*weight) : "none"),
           "The paper has weight = 4 on CIFAR and weight = 6 on ImageNet."}};
}

Complaint target_complaint(const std::vector<double>& targets) {
  if (targets.empty()) {
    return {{"target", "expected what the choices should cost, in percent, found nothing",
             "Add for instance target = 3.0, or target = [2.0, 2.5, 3.0] for stages."}};
  }
  for (const double target : targets) {
    if (target > 0 && target <= 100) continue;
    return {{"target", fmt::format("expected percentages above 0 and up to 100, found {}", target),
             "100 is what 32-bit operands cost."}};
  }
  const auto fall = std::ranges::adjacent_find(targets, std::greater());
  if (fall == targets.end()) return {};
  return {{"target",
           fmt::format("expected targets that do not fall from stage to stage, found {} after {}",
                       fall[1], fall[0]),
           "Stages go from cheap to dear as the loss settles."}};
}

// Written so that a NaN is refused.
Complaint sign_complaint(const char* key, double value) {
  if (value >= 0) return {};
  return {{key, fmt::format("expected a number of at least 0, found {}", value), ""}};
}

const DynamicRecipe& checked(const PrecisionRecipe& recipe) {
  assert(recipe.dynamic);
  const Complaint complaint = complaint_of(*recipe.dynamic);
  if (!complaint) return *recipe.dynamic;
  throw Error(ErrorCode::recipe, "precision.dynamic." + complaint->key + ": " + complaint->what,
              complaint->hint);
}

bool is_gated(const LayerInfo& layer) {
  return layer.block >= 0;
}

const std::vector<LayerInfo>& checked_layers(const std::vector<LayerInfo>& layers) {
  if (std::ranges::any_of(layers, is_gated)) return layers;
  throw Error(ErrorCode::recipe, "precision.dynamic: expected a model with gates, found none in it",
              "Gates choose for the residual blocks of networks for pictures: gated() of "
              "bitcycle/network/gates.h adds them.");
}

void refuse_override(const LayerOverride& entry, const std::vector<LayerInfo>& layers) {
  const auto own = std::ranges::find_if(layers, [&](const LayerInfo& layer) {
    return is_gates_own(layer) && matches(layer, entry.layers);
  });
  if (own == layers.end()) return;
  throw Error(
      ErrorCode::recipe,
      fmt::format("precision.override: \"{}\" fits {}, whose bits are not to be overridden: {}",
                  entry.layers, own->name,
                  is_gated(*own) ? "a gate chooses them" : "gates are in float"),
      "Name layers outside the blocks, or leave out [precision.dynamic].");
}

PrecisionOption dearest(const DynamicRecipe& recipe) {
  return std::ranges::max(recipe.options, {}, [&](PrecisionOption option) {
    return option_cost(option, *recipe.weight).total();
  });
}

ScheduleSpec fixed(int bits) {
  return {.min = bits, .max = bits};
}

// What holds where no gate was asked: the dearest option, and for depthwise layers their own bits.
// The network says of the others that they are in float.
PrecisionPlan plan_of(PrecisionRecipe recipe, const std::vector<LayerInfo>& layers,
                      RunLength length) {
  const DynamicRecipe& dynamic = checked(recipe);
  for (const LayerOverride& entry : recipe.overrides) refuse_override(entry, layers);
  const PrecisionOption option = dearest(dynamic);
  recipe.weight = fixed(*dynamic.weight);
  recipe.activation = fixed(option.activation);
  recipe.backward = fixed(option.error);
  const LayerOverride depthwise{.layers = "@depthwise",
                                .activation = fixed(kDepthwiseBits.activation),
                                .backward = fixed(kDepthwiseBits.error)};
  if (std::ranges::any_of(layers, [&](const auto& l) { return matches(l, depthwise.layers); })) {
    recipe.overrides.insert(recipe.overrides.begin(), depthwise);
  }
  return PrecisionPlan(recipe, checked_layers(layers), length);
}

std::optional<StageTracker> tracker_of(const DynamicRecipe& recipe, RunLength length) {
  const int stages = static_cast<int>(recipe.target.size());
  if (stages == 1) return {};
  return StageTracker(recipe, stages - 1, length);
}

bool float_because_of_gates(const LayerInfo& layer) {
  return matches(layer, "@ungated") || matches(layer, "@gate");
}

bool is_quantized_without_gates(const LayerInfo& layer) {
  return is_gated(layer) || matches(layer, "@depthwise") || matches(layer, "@ungated");
}

WidthBounds bounds_of(const std::vector<PrecisionOption>& options, int PrecisionOption::*role) {
  WidthBounds bounds;
  for (const PrecisionOption& option : options) {
    if (option.skips()) continue;
    const int bits = option.*role;
    bounds.min = bounds.min == 0 ? bits : std::min(bounds.min, bits);
    bounds.max = std::max(bounds.max, bits);
  }
  return bounds;
}

}  // namespace

std::optional<StageComplaint> complaint_of(const DynamicRecipe& recipe) {
  if (auto complaint = options_complaint(recipe.options)) return complaint;
  if (auto complaint = weight_complaint(recipe.weight)) return complaint;
  if (auto complaint = target_complaint(recipe.target)) return complaint;
  if (auto complaint = sign_complaint("beta", recipe.beta)) return complaint;
  if (auto complaint = sign_complaint("band_width", recipe.band_width)) return complaint;
  return deadline_complaint(recipe.deadlines, static_cast<int>(recipe.target.size()) - 1);
}

std::string to_text(PrecisionOption option) {
  return option.skips() ? "skip" : fmt::format("[{}, {}]", option.activation, option.error);
}

std::string target_text(double target) {
  return fmt::format("cp {:g} %", target);
}

bool is_gates_own(const LayerInfo& layer) {
  return is_gated(layer) || matches(layer, "@gate");
}

DynamicPolicy::DynamicPolicy(const PrecisionRecipe& recipe, const std::vector<LayerInfo>& layers,
                             RunLength length)
    : recipe_(checked(recipe)),
      plan_(plan_of(recipe, layers, length)),
      objective_(recipe_, block_weights(layers)),
      tracker_(tracker_of(recipe_, length)) {}

LayerBits DynamicPolicy::bits_of(PrecisionOption option) const {
  return {weight_bits(), option.activation, option.error};
}

double DynamicPolicy::target(Step step) const {
  return recipe_.target[tracker_ ? static_cast<std::size_t>(tracker_->stage_at(step)) : 0];
}

// Of what the network keeps in float the plan counts all at the bits of the others. Here that is
// true of what a static network keeps so, at its bits; what gates have made float counts as float.
StepBits DynamicPolicy::counted(StepBits bits) const {
  for (std::size_t i = 0; i < bits.layers.size(); ++i) {
    if (bits.counted[i] == bits.layers[i]) continue;
    bits.counted[i] = float_because_of_gates(layers()[i]) ? LayerBits{} : kGatesReference;
  }
  return bits;
}

StepBits DynamicPolicy::decide(Step step) const {
  return counted(plan_.decide(step));
}

StepBits DynamicPolicy::chosen(const std::vector<double>& shares) const {
  return chosen_step(*this, BlockShares(objective_.weights().blocks.size(), shares));
}

StepBits DynamicPolicy::evaluation(const EvaluationBits& bits, Step step) const {
  return counted(plan_.evaluation(bits, step));
}

StepBits DynamicPolicy::reference() const {
  StepBits bits = decide(0);
  for (std::size_t i = 0; i < bits.layers.size(); ++i) {
    if (is_quantized_without_gates(layers()[i])) bits.layers[i] = bits.counted[i] = kGatesReference;
  }
  bits.common = kGatesReference;
  return bits;
}

std::vector<LayerWidths> DynamicPolicy::widths() const {
  std::vector<LayerWidths> widths = plan_.widths();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (!is_gated(layers()[i])) continue;
    widths[i].activation = bounds_of(options(), &PrecisionOption::activation);
    widths[i].error = bounds_of(options(), &PrecisionOption::error);
  }
  return widths;
}

std::optional<StageChange> DynamicPolicy::observe(Step step, const MetricSums& metrics) {
  if (!tracker_) return std::nullopt;
  auto change = tracker_->observe(step, metrics);
  if (!change) return change;
  change->from = target_text(target(change->step - 1));
  change->to = target_text(target(change->step));
  return change;
}

PolicyState DynamicPolicy::state() const {
  return tracker_ ? tracker_->state() : PolicyState{};
}

void DynamicPolicy::restore(const PolicyState& state) {
  if (tracker_) tracker_->restore(state);
}

}  // namespace bitcycle
