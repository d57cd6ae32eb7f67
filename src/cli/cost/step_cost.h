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

// How much of a full batch's work a step does; all of it where that is not known.
double work_share(const std::vector<double>& step_work, Step step, std::int64_t work);
// A run in steps of full batches: somewhat fewer than it has where epochs end in smaller ones.
double full_steps(const RunLength& length, const std::vector<double>& step_work, std::int64_t work);
// What to say of them behind the size of a step: ", ...", or nothing where all steps are full.
std::string smaller_steps_note(const RunLength& length, double full_steps, std::int64_t work);

// What the steps of a run did of the work of full batches, on average: by its log's own sum for
// static precision, and by what that sum would be for full batches.
double logged_work_share(double logged_static, double full_static);

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

// What a run costs whose stages cost so much a step. They never get cheaper, so a run costs least
// when each begins as late as it may, and most when none waits longer than a window. Where nobody
// knows an epoch's steps a period counts as one step, which is a bound all the same.
Bounds staged_bounds(const IndicatorRecipe& recipe, const std::vector<double>& stages,
                     const RunLength& length);

}  // namespace bitcycle::cli
