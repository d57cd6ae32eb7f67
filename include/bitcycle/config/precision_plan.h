#pragma once

// What a recipe's [precision] means for each layer: its bits by role at every step, and at
// evaluation. A plan is a value without state; the layers are told its numbers by a controller, and
// the cost is counted from them.

#include "bitcycle/config/recipe.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/network/network.h"

#include <string>
#include <vector>

namespace bitcycle {

// A layer as patterns see it.
struct PlannedLayer {
  std::string name;
  bool depthwise = false;
  LayerPrecision precision = LayerPrecision::scheduled;
};
// The convolutions and linear layers of a network, in its order.
std::vector<PlannedLayer> planned_layers(const Network& network);

// Whether a name fits a pattern of letters, * (any run) and ? (any letter); "@depthwise" fits the
// depthwise layers.
bool matches(const PlannedLayer& layer, std::string_view pattern);

struct RunLength {
  Step steps = 0;
  Step steps_per_epoch = 1;
};

// At which precision to evaluate.
struct EvaluationBits {
  enum class Kind { schedule_max, current, full, fixed };
  Kind kind = Kind::schedule_max;
  int bits = 0;  // fixed
};
// Reads "max", "current", "fp" (or 0) or a width; throws Error(usage).
EvaluationBits parse_evaluation_bits(std::string_view text);

// Between which bits a layer may move over a run, by role.
struct LayerWidths {
  WidthBounds weight, activation, error;
};

class PrecisionPlan {
 public:
  // Throws Error(recipe) when an override's pattern fits no layer.
  PrecisionPlan(const PrecisionRecipe& recipe, std::vector<PlannedLayer> layers, RunLength length);

  const std::vector<PlannedLayer>& layers() const { return layers_; }
  // One entry a layer. Layers in float have all bits 0; so has a layer whose weight and activation
  // bits are both 0, whatever its error bits (as in the papers' code).
  std::vector<LayerBits> at(Step step) const;
  // Whether an override of the recipe decides the layer's bits.
  bool overridden(std::size_t layer) const {
    return rules_[rule_[layer]].origin == Rule::Origin::override_entry;
  }
  // The bits of layers without an override, for people to look at.
  LayerBits common(Step step) const;
  // Their upper bounds over the run.
  LayerBits common_max() const { return rules_[0].max; }
  // One entry a layer; by the schedules' bounds, whatever the length of the run.
  std::vector<LayerWidths> widths() const;
  // Bits to evaluate at after `step`. A fixed width leaves layers alone that have bits of their
  // own.
  std::vector<LayerBits> evaluation(const EvaluationBits& bits, Step step) const;

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
  std::vector<PlannedLayer> layers_;
  std::vector<Rule> rules_;        // rules_[0] is the recipe's own
  std::vector<std::size_t> rule_;  // index into rules_, one a layer
};

}  // namespace bitcycle
