#pragma once

// What [precision.range_test] means for the bits of a run: blocks at fixed widths while the test
// goes on, then the schedule between the bounds that it found. Given the phases of the test, which
// are in its state and in a run's log, this is a value without state.

#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/range_test.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bitcycle {

// What is wrong with a range test, and the key of it in its table.
struct RangeComplaint {
  std::string key;
  std::string what, hint;
};
std::optional<RangeComplaint> complaint_of(const RangeTestRecipe& recipe);

// With the first cycle of a run of so many steps as its limit.
RangeTestOptions range_test_options(const RangeTestRecipe& recipe, Step steps);
// The schedule between two bounds.
ScheduleSpec schedule_between(const RangeTestRecipe& recipe, int low, int high);

class RangePlans {
 public:
  // `recipe` is automatic. Throws Error(recipe) when it makes no sense, or does not fit the layers.
  RangePlans(const PrecisionRecipe& recipe, const std::vector<LayerInfo>& layers, RunLength length);

  StepBits decide(const RangeTest::Phases& phases, Step step) const;
  // That of the schedule once it has begun, before that static at the upper width.
  const PrecisionPlan& settled(const RangeTest::Phases& phases) const;
  const PrecisionPlan& upper() const { return fixed_.back(); }
  // Static at each width, from the lowest.
  const std::vector<PrecisionPlan>& fixed() const { return fixed_; }
  // The bits of a step in which layers without bits of their own had these.
  StepBits showing(LayerBits common, Step step) const;
  std::vector<LayerWidths> widths() const { return lowest().widths(); }
  // With the lowest bounds that the test may find.
  const PrecisionPlan& lowest() const { return schedules_.at({recipe_.from, recipe_.to}); }

  // "8/8", "3 and 8/8" (in turn), "cosine 3-8/8".
  std::string text(const RangeTest::Phase& phase) const;
  // The phases of a run that has told of these changes.
  RangeTest::Phases phases(const std::vector<StageChange>& changes) const;

 private:
  RangeTestRecipe recipe_;
  std::vector<PrecisionPlan> fixed_;                        // from the lowest width on
  std::map<std::pair<int, int>, PrecisionPlan> schedules_;  // by their bounds
};

}  // namespace bitcycle
