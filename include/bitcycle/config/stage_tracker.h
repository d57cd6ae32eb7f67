#pragma once

// Follows a run from stage to stage, for policies that change when the loss settles: adds up the
// loss of each period, asks the indicator, keeps the deadlines, and remembers when stages began, so
// that what was decided at an earlier step can be asked again.

#include "bitcycle/config/loss_indicator.h"
#include "bitcycle/config/precision_policy.h"
#include "bitcycle/config/recipe.h"

#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

// What is wrong with the stages of a recipe, and the key of it in their table.
struct StageComplaint {
  std::string key;
  std::string what, hint;
};
// Nothing, if the deadlines suit so many turning points.
std::optional<StageComplaint> deadline_complaint(const std::vector<double>& deadlines,
                                                 int turning_points);

class StageTracker {
 public:
  // `turning_points` at least 1; deadlines, if there are any, as many.
  StageTracker(const IndicatorRecipe& recipe, int turning_points, RunLength length);

  // What a step gave. The change lacks `from` and `to`, which the policy knows.
  std::optional<StageChange> observe(Step step, const MetricSums& metrics);
  // The stage of a step, from 0; of a step to come, the present one.
  int stage_at(Step step) const;
  const LossIndicator& indicator() const { return indicator_; }

  PolicyState state() const;
  // Throws Error(checkpoint) when this is no state of such a tracker.
  void restore(const PolicyState& state);

 private:
  std::optional<StageChange> end_period(Step next);
  bool overdue(Step next) const;
  StageChange begin_stage(Step next, const TurningPoint& point, const std::string& reason);

  LossIndicatorOptions options_;
  LossIndicator indicator_;
  IndicatorRecipe::Loss loss_;
  Step period_;
  std::vector<Step> deadlines_;  // the first step of the next stage, at the latest
  std::vector<Step> starts_;     // of the stages after the first
  MetricSum sum_;                // of the period so far
  Step steps_ = 0;
};

}  // namespace bitcycle
