#pragma once

// What a run costs as it goes: the bit operations of a step under its plan, and of the same step at
// the schedules' upper bounds ("static"). Counted by the papers' rule, so that figures can be held
// against theirs: layers that a network keeps in float count at the scheduled bits. What a recipe's
// override says of a layer counts as it is said, float as 32 bits.

#include "bitcycle/config/precision_plan.h"
#include "bitcycle/cost/cost_model.h"

namespace bitcycle {

class CostMeter {
 public:
  CostMeter(const Network& network, PrecisionPlan plan);

  // Bit operations of one sample at a step, and at the upper bounds.
  double sample_bitops(Step step) const;
  double static_sample_bitops() const { return static_sample_bitops_; }
  Counting counting() const { return model_.counting(); }

 private:
  double counted(std::vector<LayerBits> bits, LayerBits common) const;

  CostModel model_;
  PrecisionPlan plan_;
  double static_sample_bitops_;
};

}  // namespace bitcycle
