#pragma once

// FracTrain's progressive quantization (PFQ): training starts at few bits, and each time the loss
// has settled it goes on at more. A stage is a plan of its own, in which all schedules of the
// recipe are static, so that overrides and float layers mean what they mean elsewhere.

#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/stage_tracker.h"

#include <string>
#include <vector>

namespace bitcycle {

// What is wrong in [precision.progressive]; nothing, if it makes sense.
std::optional<StageComplaint> complaint_of(const ProgressiveRecipe& recipe);

// The bits of the stages that can be reached: turning_points + 1 of them.
std::vector<LayerBits> stages_of(const ProgressiveRecipe& recipe);

class ProgressivePolicy : public PrecisionPolicy {
 public:
  // `recipe` has a progressive part. Throws Error(recipe) when it makes no sense, or does not fit
  // the layers.
  ProgressivePolicy(const PrecisionRecipe& recipe, const std::vector<LayerInfo>& layers,
                    RunLength length);

  // What holds in each stage, whatever the step.
  const std::vector<PrecisionPlan>& stages() const { return stages_; }

  const std::vector<LayerInfo>& layers() const override { return stages_.front().layers(); }
  StepBits decide(Step step) const override;
  StepBits evaluation(const EvaluationBits& bits, Step step) const override;
  std::vector<LayerWidths> widths() const override;
  std::optional<StageChange> observe(Step step, const MetricSums& metrics) override;
  PolicyState state() const override { return tracker_.state(); }
  void restore(const PolicyState& state) override { tracker_.restore(state); }

 private:
  std::vector<PrecisionPlan> stages_;
  StageTracker tracker_;
};

}  // namespace bitcycle
