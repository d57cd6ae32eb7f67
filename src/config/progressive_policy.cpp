#include "bitcycle/config/progressive_policy.h"

#include "bitcycle/base/error.h"
#include "bitcycle/schedule/summary.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace bitcycle {
namespace {

using Complaint = std::optional<StageComplaint>;

Complaint length_complaint(const ProgressiveRecipe& recipe) {
  constexpr const char* kHint =
      "Add for instance forward = [3, 4, 6, 8] and backward = [6, 6, 8, 8].";
  const std::size_t forward = recipe.forward.size(), backward = recipe.backward.size();
  if (forward == 0) return {{"forward", "expected the bits of each stage, found none", kHint}};
  if (backward == 0) return {{"backward", "expected the bits of each stage, found none", kHint}};
  if (forward != backward) {
    return {{"backward",
             fmt::format("expected bits for the {} stages of forward, found {}", forward, backward),
             "Both lists have an entry for each stage."}};
  }
  if (forward > 1) return {};
  return {{"forward", "expected at least 2 stages, found 1",
           "For the same bits throughout, leave out [precision.progressive] and give "
           "precision.forward and precision.backward."}};
}

Complaint falling_complaint(const std::string& key, const std::vector<int>& bits) {
  const auto fall = std::ranges::adjacent_find(
      bits, [](int a, int b) { return counted_bits(a) > counted_bits(b); });
  if (fall == bits.end()) return {};
  return {{key,
           fmt::format("expected bits that do not fall from stage to stage, found {} after {}",
                       fall[1], fall[0]),
           "The last stage is the one that the run is measured against; 0 stands for float."}};
}

int turning_points(const ProgressiveRecipe& recipe) {
  return recipe.turning_points.value_or(static_cast<int>(recipe.forward.size()) - 1);
}

Complaint loss_complaint(const ProgressiveRecipe& recipe) {
  if (recipe.loss != IndicatorRecipe::Loss::total) return {};
  return {{"loss", "expected \"cross_entropy\" or \"perplexity\", found \"total\"",
           "The loss has a cost in it where gates choose the bits, under [precision.dynamic]."}};
}

Complaint points_complaint(const ProgressiveRecipe& recipe) {
  const int stages = static_cast<int>(recipe.forward.size()), points = turning_points(recipe);
  if (points >= 1 && points < stages) return {};
  return {{"turning_points",
           fmt::format("expected 1 to {}, one between each two of the {} stages, found {}",
                       stages - 1, stages, points),
           "Add stages to forward and backward, or leave it out."}};
}

const ProgressiveRecipe& checked(const PrecisionRecipe& recipe) {
  assert(recipe.progressive);
  const Complaint complaint = complaint_of(*recipe.progressive);
  if (!complaint) return *recipe.progressive;
  throw Error(ErrorCode::recipe, "precision.progressive." + complaint->key + ": " + complaint->what,
              complaint->hint);
}

std::vector<PrecisionPlan> stage_plans(PrecisionRecipe recipe, const std::vector<LayerInfo>& layers,
                                       RunLength length) {
  const auto fixed = [](int bits) { return ScheduleSpec{.min = bits, .max = bits}; };
  std::vector<PrecisionPlan> plans;
  for (const LayerBits& bits : stages_of(checked(recipe))) {
    recipe.forward = fixed(bits.weight);
    recipe.backward = fixed(bits.error);
    plans.emplace_back(recipe, layers, length);
  }
  return plans;
}

WidthBounds both(const WidthBounds& a, const WidthBounds& b) {
  const auto lower = a.min == 0 ? b.min : b.min == 0 ? a.min : std::min(a.min, b.min);
  return {lower, std::max(a.max, b.max), a.has_float || b.has_float};
}

}  // namespace

std::optional<StageComplaint> complaint_of(const ProgressiveRecipe& recipe) {
  if (auto complaint = length_complaint(recipe)) return complaint;
  if (auto complaint = falling_complaint("forward", recipe.forward)) return complaint;
  if (auto complaint = falling_complaint("backward", recipe.backward)) return complaint;
  if (auto complaint = points_complaint(recipe)) return complaint;
  if (auto complaint = loss_complaint(recipe)) return complaint;
  return deadline_complaint(recipe.deadlines, turning_points(recipe));
}

std::vector<LayerBits> stages_of(const ProgressiveRecipe& recipe) {
  std::vector<LayerBits> stages;
  for (int i = 0; i <= turning_points(recipe); ++i) {
    const int forward = recipe.forward[static_cast<std::size_t>(i)];
    stages.push_back({forward, forward, recipe.backward[static_cast<std::size_t>(i)]});
  }
  return stages;
}

ProgressivePolicy::ProgressivePolicy(const PrecisionRecipe& recipe,
                                     const std::vector<LayerInfo>& layers, RunLength length)
    : stages_(stage_plans(recipe, layers, length)),
      tracker_(*recipe.progressive, turning_points(*recipe.progressive), length) {}

StepBits ProgressivePolicy::decide(Step step) const {
  return stages_[static_cast<std::size_t>(tracker_.stage_at(step))].decide(step);
}

// Whatever is no width of the moment is said of the last stage, whose bits are the upper bounds.
StepBits ProgressivePolicy::evaluation(const EvaluationBits& bits, Step step) const {
  if (bits.kind == EvaluationBits::Kind::current) return decide(step);
  return stages_.back().evaluation(bits, step);
}

std::vector<LayerWidths> ProgressivePolicy::widths() const {
  std::vector<LayerWidths> widths = stages_.front().widths();
  for (const PrecisionPlan& stage : stages_) {
    const std::vector<LayerWidths> more = stage.widths();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = {both(widths[i].weight, more[i].weight),
                   both(widths[i].activation, more[i].activation),
                   both(widths[i].error, more[i].error)};
    }
  }
  return widths;
}

std::optional<StageChange> ProgressivePolicy::observe(Step step, const MetricSums& metrics) {
  auto change = tracker_.observe(step, metrics);
  if (!change) return change;
  change->from = to_text(decide(change->step - 1).common);
  change->to = to_text(decide(change->step).common);
  return change;
}

}  // namespace bitcycle
