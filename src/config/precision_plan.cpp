#include "bitcycle/config/precision_plan.h"

#include "bitcycle/base/error.h"

#include <algorithm>

namespace bitcycle {
namespace {

// Goes back to the last star alone, which is enough, and keeps a hostile pattern from taking time
// exponential in its stars.
bool glob(std::string_view text, std::string_view pattern) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t t = 0, p = 0, star = kNone, covered = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      covered = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++t, ++p;
    } else if (star != kNone) {
      p = star + 1;
      t = ++covered;
    } else {
      return false;
    }
  }
  return pattern.substr(p).find_first_not_of('*') == kNone;
}

// The schedule of a spec over the run, advancing by step or by epoch.
Schedule run_schedule(const ScheduleSpec& spec, PrecisionRecipe::Per per, RunLength length) {
  try {
    return per == PrecisionRecipe::Per::step
               ? make_schedule(spec, length.steps)
               : make_epoch_schedule(spec, length.steps, length.steps_per_epoch);
  } catch (const Error& error) {
    throw Error(ErrorCode::recipe, std::string("precision: ") + error.what(), error.hint());
  }
}

LayerBits float_if_unquantized(LayerBits bits) {
  return bits.weight == 0 && bits.activation == 0 ? LayerBits{} : bits;
}

// The specs that a group of layers follows, by role.
struct Specs {
  ScheduleSpec weight, activation, error;
};

Specs recipe_specs(const PrecisionRecipe& recipe) {
  return {recipe.weight.value_or(recipe.forward), recipe.activation.value_or(recipe.forward),
          recipe.backward};
}

Specs override_specs(const LayerOverride& entry, const Specs& base) {
  if (entry.full_precision)
    return {{.min = 0, .max = 0}, {.min = 0, .max = 0}, {.min = 0, .max = 0}};
  const auto role = [&](const std::optional<ScheduleSpec>& own, const ScheduleSpec& inherited) {
    if (own) return *own;
    return entry.forward.value_or(inherited);
  };
  return {role(entry.weight, base.weight), role(entry.activation, base.activation),
          entry.backward.value_or(base.error)};
}

}  // namespace

bool matches(const LayerInfo& layer, std::string_view pattern) {
  if (!pattern.starts_with('@')) return glob(layer.name, pattern);
  return std::ranges::find(layer.tags, pattern.substr(1)) != layer.tags.end();
}

LayerBits PrecisionPlan::Rule::at(Step step) const {
  return float_if_unquantized({weight.bits(step), activation.bits(step), error.bits(step)});
}

PrecisionPlan::PrecisionPlan(const PrecisionRecipe& recipe, std::vector<LayerInfo> layers,
                             RunLength length)
    : layers_(std::move(layers)), rule_(layers_.size(), 0) {
  const auto add_rule = [&](const Specs& specs, Rule::Origin origin) {
    const auto schedule = [&](const ScheduleSpec& s) {
      return run_schedule(s, recipe.per, length);
    };
    const LayerBits max{max_bits(specs.weight), max_bits(specs.activation), max_bits(specs.error)};
    const LayerWidths widths{width_bounds(specs.weight), width_bounds(specs.activation),
                             width_bounds(specs.error)};
    rules_.push_back({schedule(specs.weight), schedule(specs.activation), schedule(specs.error),
                      float_if_unquantized(max), widths, origin});
    return rules_.size() - 1;
  };
  const Specs base = recipe_specs(recipe);
  add_rule(base, Rule::Origin::recipe);
  const std::size_t full =
      add_rule(override_specs({.full_precision = true}, base), Rule::Origin::network);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (layers_[i].precision == LayerPrecision::full) rule_[i] = full;
  }
  for (const LayerOverride& entry : recipe.overrides) {
    const std::size_t rule = add_rule(override_specs(entry, base), Rule::Origin::override_entry);
    bool found = false;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (!matches(layers_[i], entry.layers)) continue;
      rule_[i] = rule;
      found = true;
    }
    if (found) continue;
    throw Error(ErrorCode::recipe, "precision.override: no layer fits \"" + entry.layers + "\"",
                "Layer names look like \"" + (layers_.empty() ? "" : layers_.back().name) +
                    "\"; `bitcycle cost MODEL --per-layer` lists them.");
  }
}

// Layers that the model keeps in float count as those that follow the recipe (StepBits::counted);
// what an override says of them counts as it is said.
template <typename BitsOfRule>
StepBits PrecisionPlan::by_rule(const BitsOfRule& bits_of) const {
  std::vector<LayerBits> rules(rules_.size());
  std::ranges::transform(rules_, rules.begin(), bits_of);
  StepBits bits{.common = rules.front()};
  for (const std::size_t rule : rule_) {
    const bool network = rules_[rule].origin == Rule::Origin::network;
    bits.layers.push_back(rules[rule]);
    bits.counted.push_back(network ? bits.common : rules[rule]);
  }
  return bits;
}

StepBits PrecisionPlan::decide(Step step) const {
  return by_rule([&](const Rule& rule) { return rule.at(step); });
}

StepBits PrecisionPlan::evaluation(const EvaluationBits& wanted, Step step) const {
  using Kind = EvaluationBits::Kind;
  if (wanted.kind == Kind::current) return decide(step);
  return by_rule([&](const Rule& rule) {
    if (wanted.kind == Kind::full) return LayerBits{};
    const bool fixed = wanted.kind == Kind::fixed && rule.origin == Rule::Origin::recipe;
    return fixed ? LayerBits{wanted.bits, wanted.bits, 0} : rule.max;
  });
}

std::vector<LayerWidths> PrecisionPlan::widths() const {
  std::vector<LayerWidths> widths;
  for (const std::size_t rule : rule_) widths.push_back(rules_[rule].widths);
  return widths;
}

}  // namespace bitcycle
