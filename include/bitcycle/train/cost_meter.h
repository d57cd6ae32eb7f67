#pragma once

// What a run costs as it goes: the bit operations of a step at its bits, and of the same step at
// the policy's reference ("static"): its upper bounds, or where gates choose the bits 8/8, without
// gates. Counted by the papers' rule, so that figures can be held against theirs
// (StepBits::counted); float counts as 32 bits. Where gates have chosen, their choices count.

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/cost/cost_model.h"

namespace bitcycle {

class CostMeter {
 public:
  explicit CostMeter(const PrecisionPolicy& policy)
      : model_(policy.layers(), Counting::paper),
        static_bitops_(bitops(policy.reference()) - model_.gates_cost().total()) {}

  // Bit operations of one unit of work (a sample, a token), and of the reference.
  double bitops(const StepBits& bits) const {
    return model_.sample_cost(bits.counted, bits.mixtures).total();
  }
  double static_bitops() const { return static_bitops_; }
  Counting counting() const { return model_.counting(); }

 private:
  CostModel model_;
  double static_bitops_;
};

}  // namespace bitcycle
