#pragma once

// What a step of a recipe costs, and a run whose steps cost more from stage to stage.

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/cost/cost_model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle::cli {

inline constexpr double kGiga = 1e9;

// From the least to the most; the same where all is known.
struct Bounds {
  double least = 0, most = 0;
};

// Samples or tokens of a step.
std::int64_t work_of(const Recipe& recipe);
// Of a recipe that gives its length in epochs, the assumed steps. Throws Error(usage) for a run
// that takes too long to count.
RunLength length_of(const Recipe& recipe, Step steps_of_epochs);
// What to say of them behind their number: " (...)", or nothing where the length is known.
std::string assumption(const Recipe& recipe, const std::optional<RunLength>& known);

// What the steps of a run do of the work of a full batch, which the last one of an epoch may lack a
// part of.
class StepShares {
 public:
  // `step_work`: samples or tokens of each step; empty: full ones, where nothing is known of them.
  StepShares(Step steps, const std::vector<double>& step_work, std::int64_t full);

  double of(Step step) const { return between(step, step + 1); }
  // The steps from `begin` up to `end`, in full ones.
  double between(Step begin, Step end) const;
  double all() const { return between(0, steps_); }
  // What to say behind the size of a full step: ", ...", or nothing where all are.
  std::string smaller_steps_note() const;

 private:
  Step steps_;
  std::vector<double> before_;  // the work of all steps before each, and of all; or empty
  double full_;
};

// The cost of the bits of a step, in billions of bit operations.
class StepCost {
 public:
  StepCost(const std::vector<LayerInfo>& layers, Counting counting, double work)
      : model_(layers, counting), work_(work / kGiga) {}

  double operator()(const StepBits& bits) const;
  // What savings are measured against; it has no gates.
  double reference(const PrecisionPolicy& policy) const;
  // The bits at which the rule counts each layer.
  const std::vector<LayerBits>& counted(const StepBits& bits) const;
  // Of one layer.
  double layer(const StepBits& bits, std::size_t layer) const;

 private:
  CostModel model_;
  double work_;
};

// What a run costs whose stages cost so much a full step. They never get cheaper, so a run costs
// least when each begins as late as it may, and most when none waits longer than a window. Where
// nobody knows an epoch's steps a period counts as one step, which is a bound all the same.
Bounds staged_bounds(const IndicatorRecipe& recipe, const std::vector<double>& stages,
                     const RunLength& length, const StepShares& shares);

}  // namespace bitcycle::cli
