#pragma once

// FracTrain's dynamic quantization (DFQ): gates in the network choose the bits of its blocks for
// each sample. The policy says between what they choose and what that should cost, which may rise
// in stages as the loss settles, and holds the other layers: depthwise convolutions at 8-bit
// activations and 16-bit errors, the rest in float. Overrides may concern layers that no gate
// chooses for.

#include "bitcycle/config/gate_objective.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/stage_tracker.h"

#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

// Static at 8/8, the papers' SBM: what savings are measured against.
inline constexpr LayerBits kGatesReference{8, 8, 8};

// What is wrong in [precision.dynamic]; nothing, if it makes sense.
std::optional<StageComplaint> complaint_of(const DynamicRecipe& recipe);

// "[3, 6]", "skip".
std::string to_text(PrecisionOption option);
// "cp 1.5 %".
std::string target_text(double target);

// Whether an override may not say a layer's bits: a gate chooses them, or the layer is part of one.
bool is_gates_own(const LayerInfo& layer);

class DynamicPolicy : public PrecisionPolicy {
 public:
  // `recipe` has a dynamic part. Throws Error(recipe) when it makes no sense, or does not fit the
  // layers.
  DynamicPolicy(const PrecisionRecipe& recipe, const std::vector<LayerInfo>& layers,
                RunLength length);

  const DynamicRecipe& recipe() const { return recipe_; }
  const std::vector<PrecisionOption>& options() const { return recipe_.options; }
  int weight_bits() const { return *recipe_.weight; }
  // The bits of a gated layer where a sample has chosen that option.
  LayerBits bits_of(PrecisionOption option) const;
  const GateObjective& objective() const { return objective_; }
  // The compute percentage that the choices of a step are steered to.
  double target(Step step) const;

  const std::vector<LayerInfo>& layers() const override { return plan_.layers(); }
  // Gated layers have the bits of the dearest option: what the gates choose, they tell the layers.
  StepBits decide(Step step) const override;
  // The same where samples have chosen the options in these shares, in all blocks alike. Samples
  // that skip a block pass its projection at the dearest option.
  StepBits chosen(const std::vector<double>& shares) const;
  // At "max" and "current" the gates choose as in training; at a width or in float they are not
  // asked, and all gated layers have it.
  StepBits evaluation(const EvaluationBits& bits, Step step) const override;
  // Static at 8/8, as a network without gates has it: with all that is in float because of them.
  StepBits reference() const override;
  std::vector<LayerWidths> widths() const override;
  std::optional<StageChange> observe(Step step, const MetricSums& metrics) override;
  PolicyState state() const override;
  void restore(const PolicyState& state) override;

 private:
  StepBits counted(StepBits bits) const;

  DynamicRecipe recipe_;
  PrecisionPlan plan_;
  GateObjective objective_;
  std::optional<StageTracker> tracker_;  // of several targets
};

}  // namespace bitcycle
