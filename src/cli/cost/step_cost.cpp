#include "cli/cost/step_cost.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/schedule/compose.h"

#include "cli/schedule/run_bits.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

// The cost when stage i begins at starts[i].
double staged_cost(const std::vector<double>& stages, const std::vector<Step>& starts, Step steps,
                   const StepShares& shares) {
  double sum = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Step end = i + 1 < stages.size() ? std::min(starts[i + 1], steps) : steps;
    const Step begin = std::min(starts[i], end);
    sum += shares.between(begin, end) * stages[i];
  }
  return sum;
}

}  // namespace

std::int64_t work_of(const Recipe& recipe) {
  const std::int64_t rows = std::int64_t{recipe.data.batch_size} * recipe.optimizer.accumulate;
  const bool text = task_of(recipe.model.name) == TaskKind::language_model;
  return text ? rows * window_of(recipe) : rows;
}

RunLength length_of(const Recipe& recipe, Step steps_of_epochs) {
  const Step steps = recipe.steps > 0 ? recipe.steps : steps_of_epochs;
  if (steps > kMostShownSteps) {
    throw Error(ErrorCode::usage,
                fmt::format("expected a run of at most {} steps to count, found {}",
                            kMostShownSteps, steps));
  }
  const double per_epoch =
      recipe.epochs > 0 ? static_cast<double>(steps) / std::ceil(recipe.epochs) : 1;
  return {steps, std::max<Step>(1, std::llround(per_epoch))};
}

std::string assumption(const Recipe& recipe, const std::optional<RunLength>& known) {
  if (recipe.steps > 0 || known) return "";
  return fmt::format(
      " (assumed for its {:g} epochs, whose steps the data decide: `bitcycle train` "
      "with --dry-run counts them; --steps N)",
      recipe.epochs);
}

StepShares::StepShares(Step steps, const std::vector<double>& step_work, std::int64_t full)
    : steps_(steps), full_(static_cast<double>(full)) {
  if (step_work.empty()) return;
  before_ = {0};
  std::partial_sum(step_work.begin(), step_work.end(), std::back_inserter(before_));
}

double StepShares::between(Step begin, Step end) const {
  if (before_.empty()) return static_cast<double>(end - begin);
  return (before_.at(static_cast<std::size_t>(end)) - before_.at(static_cast<std::size_t>(begin))) /
         full_;
}

std::string StepShares::smaller_steps_note() const {
  const auto steps = static_cast<double>(steps_);
  if (all() == steps) return "";
  return fmt::format(", at the end of epochs fewer: {:.1f} on average", all() / steps * full_);
}

const std::vector<LayerBits>& StepCost::counted(const StepBits& bits) const {
  return model_.counting() == Counting::bitcycle ? bits.layers : bits.counted;
}

double StepCost::operator()(const StepBits& bits) const {
  return work_ * model_.sample_cost(counted(bits), bits.mixtures).total();
}

double StepCost::reference(const PrecisionPolicy& policy) const {
  return (*this)(policy.reference()) - work_ * model_.gates_cost().total();
}

double StepCost::layer(const StepBits& bits, std::size_t layer) const {
  return work_ * model_.layer_cost(layer, counted(bits)[layer]).total();
}

Bounds staged_bounds(const IndicatorRecipe& recipe, const std::vector<double>& stages,
                     const RunLength& length, const StepShares& shares) {
  const Step period = recipe.period > 0 ? recipe.period : length.steps_per_epoch;
  std::vector<Step> earliest, latest;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Step late = i == 0                     ? 0
                      : recipe.deadlines.empty() ? length.steps
                                                 : step_at(recipe.deadlines[i - 1], length.steps);
    latest.push_back(late);
    const Step settled = i == 0 ? 0 : earliest.back() + recipe.window * period;
    earliest.push_back(std::min(late, settled));
  }
  return {staged_cost(stages, latest, length.steps, shares),
          staged_cost(stages, earliest, length.steps, shares)};
}

}  // namespace bitcycle::cli
