#pragma once

// What a recipe's [precision] means for each layer where its bits follow schedules: by role at
// every step, and at evaluation. A plan is a value without state.

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/config/recipe.h"

#include <string>
#include <vector>

namespace bitcycle {

// Whether a layer's name fits a pattern of letters, * (any run) and ? (any letter); "@depthwise"
// fits the layers with that tag.
bool matches(const LayerInfo& layer, std::string_view pattern);

class PrecisionPlan : public PrecisionPolicy {
 public:
  // Throws Error(recipe) when an override's pattern fits no layer.
  PrecisionPlan(const PrecisionRecipe& recipe, std::vector<LayerInfo> layers, RunLength length);

  const std::vector<LayerInfo>& layers() const override { return layers_; }
  // Layers in float have all bits 0; so has a layer whose weight and activation bits are both 0,
  // whatever its error bits (as in the papers' code).
  StepBits decide(Step step) const override;
  // A fixed width leaves layers alone that have bits of their own.
  StepBits evaluation(const EvaluationBits& bits, Step step) const override;
  // By the schedules' bounds, whatever the length of the run.
  std::vector<LayerWidths> widths() const override;

 private:
  // The schedules that one group of layers follows, with their upper bounds. The network's own rule
  // is float, for the layers that it keeps so.
  struct Rule {
    Schedule weight, activation, error;
    LayerBits max;
    LayerWidths widths;
    enum class Origin { recipe, network, override_entry } origin;
    LayerBits at(Step step) const;
  };
  template <typename BitsOfRule>
  StepBits by_rule(const BitsOfRule& bits_of) const;

  std::vector<LayerInfo> layers_;
  std::vector<Rule> rules_;        // rules_[0] is the recipe's own
  std::vector<std::size_t> rule_;  // index into rules_, one a layer
};

}  // namespace bitcycle
