#include "bitcycle/config/stage_tracker.h"

#include "bitcycle/schedule/compose.h"

#include "config/policy_state.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

namespace bitcycle {
namespace {

LossIndicatorOptions indicator_options(const IndicatorRecipe& recipe, int turning_points) {
  return {.epsilon = recipe.epsilon,
          .alpha = recipe.alpha,
          .window = recipe.window,
          .normalising = recipe.normalising,
          .turning_points = turning_points};
}

// Deadlines that round to no step at all leave the stage one.
std::vector<Step> deadline_steps(const std::vector<double>& fractions, Step total) {
  std::vector<Step> steps;
  for (const double fraction : fractions) {
    steps.push_back(std::max<Step>(1, step_at(fraction, total)));
  }
  return steps;
}

// A part that is a sum and so many counts.
const std::vector<double>& sum_with_counts(const PolicyStateReader& state, const std::string& name,
                                           std::size_t counts) {
  const std::vector<double>& values = state.part(name);
  const bool whole =
      values.size() == counts + 1 && std::all_of(values.begin() + 1, values.end(), is_count);
  if (!whole) state.refuse(fmt::format("expected a sum and {} counts as \"{}\"", counts, name));
  return values;
}

// The sum among a step's metrics that the indicator listens to.
std::string metric_of(IndicatorRecipe::Loss loss) {
  return loss == IndicatorRecipe::Loss::total ? "total_loss" : "loss";
}

}  // namespace

std::optional<StageComplaint> deadline_complaint(const std::vector<double>& deadlines,
                                                 int turning_points) {
  if (deadlines.empty()) return {};
  if (std::ssize(deadlines) != turning_points) {
    return {{"deadlines",
             fmt::format("expected {}, one for each turning point, found {}", turning_points,
                         deadlines.size()),
             "A deadline of 1 is none."}};
  }
  const bool rising = std::ranges::is_sorted(deadlines, std::less_equal());
  if (rising && deadlines.front() > 0) return {};
  return {{"deadlines", "expected fractions above 0 that rise, found some that do not", ""}};
}

StageTracker::StageTracker(const IndicatorRecipe& recipe, int turning_points, RunLength length)
    : options_(indicator_options(recipe, turning_points)),
      indicator_(options_),
      loss_(recipe.loss),
      period_(recipe.period > 0 ? recipe.period : length.steps_per_epoch),
      deadlines_(deadline_steps(recipe.deadlines, length.steps)),
      sum_{.name = metric_of(recipe.loss)} {
  assert(deadlines_.empty() || std::ssize(deadlines_) == turning_points);
}

std::optional<StageChange> StageTracker::observe(Step step, const MetricSums& metrics) {
  if (indicator_.rests()) return std::nullopt;
  const auto loss = std::ranges::find(metrics.entries(), sum_.name, &MetricSum::name);
  assert(loss != metrics.entries().end());
  sum_.sum += loss->sum;
  sum_.count += loss->count;
  ++steps_;
  const Step next = step + 1;
  if (steps_ >= period_) {
    const auto change = end_period(next);
    if (change) return change;
  }
  if (!overdue(next)) return std::nullopt;
  const TurningPoint point = indicator_.turn();
  return begin_stage(next, point,
                     point.difference
                         ? fmt::format("its deadline has come; the loss still moves by {:.4g}, the "
                                       "threshold is {:.4g}",
                                       *point.difference, point.threshold)
                         : "its deadline has come before a window of losses was full");
}

// The exponential of a large loss may be infinite; such a period says nothing.
std::optional<StageChange> StageTracker::end_period(Step next) {
  const double mean = sum_.sum / sum_.count;
  const double loss = loss_ == IndicatorRecipe::Loss::perplexity ? std::exp(mean) : mean;
  sum_.sum = sum_.count = 0;
  steps_ = 0;
  if (!std::isfinite(loss)) return std::nullopt;
  const auto point = indicator_.observe(loss);
  if (!point) return std::nullopt;
  return begin_stage(
      next, *point,
      fmt::format("the loss has settled: it moves by {:.4g}, the threshold is {:.4g}",
                  *point->difference, point->threshold));
}

bool StageTracker::overdue(Step next) const {
  return !deadlines_.empty() && next >= deadlines_[static_cast<std::size_t>(indicator_.stage())];
}

// A period is of one stage alone, so it begins anew too.
StageChange StageTracker::begin_stage(Step next, const TurningPoint& point,
                                      const std::string& reason) {
  starts_.push_back(next);
  sum_.sum = sum_.count = 0;
  steps_ = 0;
  return {
      .step = next, .reason = reason, .difference = point.difference, .threshold = point.threshold};
}

int StageTracker::stage_at(Step step) const {
  return static_cast<int>(std::ranges::upper_bound(starts_, step) - starts_.begin());
}

PolicyState StageTracker::state() const {
  const LossIndicatorState& indicator = indicator_.state();
  return {{"stage_starts", {starts_.begin(), starts_.end()}},
          {"window", indicator.window},
          {"normaliser", {indicator.norm_sum, static_cast<double>(indicator.norm_count)}},
          {"period", {sum_.sum, sum_.count, static_cast<double>(steps_)}}};
}

void StageTracker::restore(const PolicyState& state) {
  const PolicyStateReader reader(state, "the stages of precision");
  const std::vector<double>& starts = reader.part("stage_starts");
  const std::vector<double> norm = sum_with_counts(reader, "normaliser", 1);
  const std::vector<double> period = sum_with_counts(reader, "period", 2);
  if (!std::ranges::is_sorted(starts) || !std::ranges::all_of(starts, is_count)) {
    reader.refuse("expected steps that rise as \"stage_starts\"");
  }
  if (std::ssize(starts) > options_.turning_points) {
    reader.refuse(fmt::format("expected at most {} turning points, found {}",
                              options_.turning_points, starts.size()));
  }
  starts_.assign(starts.begin(), starts.end());
  indicator_ = LossIndicator(options_, {.stage = static_cast<int>(starts.size()),
                                        .window = reader.part("window"),
                                        .norm_sum = norm[0],
                                        .norm_count = static_cast<std::int64_t>(norm[1])});
  sum_.sum = period[0];
  sum_.count = period[1];
  steps_ = static_cast<Step>(period[2]);
}

}  // namespace bitcycle
