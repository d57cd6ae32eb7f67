#pragma once

// precision.forward = "auto": the first cycle of a cyclic schedule begins with a range test, and
// the rest of the run follows the schedule between the bounds that it found. The test's steps are
// steps of the training, and cost what their bits cost.

#include "bitcycle/config/learned.h"
#include "bitcycle/config/range_plans.h"

#include <string>
#include <vector>

namespace bitcycle {

// "3 bits keep 0.912 ± 0.013 of what 8 bits have learned (4 pairs of blocks): enough, 99.9 % sure".
std::string to_text(const RangeTest::Result& result, int to);
// Why the bounds are what they are, where it is not that a width was good enough.
std::string end_text(const RangeTest& test);

class RangePolicy : public PrecisionPolicy {
 public:
  // `recipe` is automatic. Throws Error(recipe) when it makes no sense, or does not fit the layers.
  RangePolicy(const PrecisionRecipe& recipe, const std::vector<LayerInfo>& layers,
              RunLength length);
  // With options of the caller's own in place of the recipe's.
  RangePolicy(const PrecisionRecipe& recipe, const std::vector<LayerInfo>& layers, RunLength length,
              const RangeTestOptions& options);

  const RangeTest& test() const { return test_; }
  const RangePlans& plans() const { return plans_; }
  const Learned& learned() const { return learned_; }

  const std::vector<LayerInfo>& layers() const override { return plans_.upper().layers(); }
  StepBits decide(Step step) const override { return plans_.decide(test_.phases(), step); }
  StepBits evaluation(const EvaluationBits& bits, Step step) const override;
  std::vector<LayerWidths> widths() const override { return plans_.widths(); }
  std::optional<StageChange> observe(Step step, const MetricSums& metrics) override;
  PolicyState state() const override { return test_.state(); }
  void restore(const PolicyState& state) override { test_.restore(state); }
  // Static at the width that others are held against.
  StepBits reference() const override { return plans_.upper().upper(); }

 private:
  std::string reason() const;

  RangePlans plans_;
  RangeTest test_;
  Learned learned_;
  Step steps_;  // of the run
};

}  // namespace bitcycle
