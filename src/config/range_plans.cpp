#include "bitcycle/config/range_plans.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/nearest.h"

#include "config/fields.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

#include <fmt/format.h>

namespace bitcycle {
namespace {

using Complaint = std::optional<RangeComplaint>;

Complaint width_complaint(const RangeTestRecipe& recipe) {
  if (recipe.from < recipe.to) return {};
  return {{"from",
           fmt::format("expected less than the {} bits of to, found {}", recipe.to, recipe.from),
           "Widths from `from` up are held against `to`, for instance from = 2 and to = 8."}};
}

std::vector<std::string> cyclic_names() {
  std::vector<std::string> names = schedule_names();
  std::erase_if(
      names, [](const std::string& name) { return !traits_of(ScheduleSpec{.name = name}).cyclic; });
  return names;
}

Complaint schedule_complaint(const RangeTestRecipe& recipe) {
  const std::vector<std::string> names = cyclic_names();
  if (std::ranges::find(names, recipe.schedule) != names.end()) return {};
  return {{"schedule",
           fmt::format("expected the name of a cyclic schedule, found \"{}\"", recipe.schedule),
           suggest(recipe.schedule, names)}};
}

Complaint upper_complaint(const RangeTestRecipe& recipe) {
  if (!recipe.upper || *recipe.upper >= recipe.threshold) return {};
  return {{"upper",
           fmt::format("expected at least the threshold of the lower bound, {:g}, found {:g}",
                       recipe.threshold, *recipe.upper),
           "Take for instance upper = 0.95, or leave it out: the upper bound is then `to`."}};
}

RangeTestRecipe checked(const PrecisionRecipe& recipe) {
  assert(is_automatic(recipe));
  const RangeTestRecipe test = recipe.range_test.value_or(RangeTestRecipe());
  const Complaint complaint = complaint_of(test);
  if (!complaint) return test;
  throw Error(ErrorCode::recipe, "precision.range_test." + complaint->key + ": " + complaint->what,
              complaint->hint);
}

// A width, or two bounds, as text() has written them.
std::optional<std::pair<int, int>> bounds_in(const std::string& text, const char* format) {
  int low = 0, high = 0;
  if (std::sscanf(text.c_str(), format, &low, &high) != 2) return std::nullopt;
  return {{low, high}};
}

}  // namespace

std::optional<RangeComplaint> complaint_of(const RangeTestRecipe& recipe) {
  if (auto complaint = width_complaint(recipe)) return complaint;
  if (auto complaint = schedule_complaint(recipe)) return complaint;
  return upper_complaint(recipe);
}

RangeTestOptions range_test_options(const RangeTestRecipe& recipe, Step steps) {
  return {.from = recipe.from,
          .to = recipe.to,
          .threshold = recipe.threshold,
          .upper = recipe.upper,
          .confidence = recipe.confidence,
          .block = recipe.block,
          .pairs = recipe.pairs,
          .ready = recipe.ready,
          .limit = std::max<Step>(1, steps / recipe.cycles)};
}

ScheduleSpec schedule_between(const RangeTestRecipe& recipe, int low, int high) {
  return {.name = recipe.schedule, .min = low, .max = high, .cycles = recipe.cycles};
}

RangePlans::RangePlans(const PrecisionRecipe& recipe, const std::vector<LayerInfo>& layers,
                       RunLength length)
    : recipe_(checked(recipe)) {
  PrecisionRecipe part = recipe;
  const int least_upper = recipe_.upper ? recipe_.from : recipe_.to;
  for (int low = recipe_.from; low <= recipe_.to; ++low) {
    part.forward = {.min = low, .max = low};
    fixed_.emplace_back(part, layers, length);
    for (int high = std::max(low, least_upper); high <= recipe_.to; ++high) {
      part.forward = schedule_between(recipe_, low, high);
      schedules_.emplace(std::pair(low, high), PrecisionPlan(part, layers, length));
    }
  }
}

StepBits RangePlans::decide(const RangeTest::Phases& phases, Step step) const {
  const std::optional<int> bits = bits_at(phases, recipe_.block, step);
  if (!bits) return settled(phases).decide(step);
  return fixed_[static_cast<std::size_t>(*bits - recipe_.from)].decide(step);
}

StepBits RangePlans::showing(LayerBits common, Step step) const {
  for (const PrecisionPlan& plan : fixed_) {
    StepBits bits = plan.decide(step);
    if (bits.common == common) return bits;
  }
  return upper().decide(step);
}

const PrecisionPlan& RangePlans::settled(const RangeTest::Phases& phases) const {
  const RangeTest::Phase& last = phases.back();
  return last.goal == RangeTest::Goal::schedule ? schedules_.at({last.low, last.high}) : upper();
}

std::string RangePlans::text(const RangeTest::Phase& phase) const {
  const int errors = upper().decide(phase.start).common.error;
  switch (phase.goal) {
    case RangeTest::Goal::warm_up:
      return fmt::format("{}/{}", phase.high, errors);
    case RangeTest::Goal::schedule:
      return fmt::format("{} {}-{}/{}", recipe_.schedule, phase.low, phase.high, errors);
    default:
      return fmt::format("{} and {}/{}", phase.low, phase.high, errors);
  }
}

RangeTest::Phases RangePlans::phases(const std::vector<StageChange>& changes) const {
  const auto fits = [&](int bits) { return bits >= recipe_.from && bits <= recipe_.to; };
  RangeTest::Phases phases = {{0, RangeTest::Goal::warm_up, recipe_.to, recipe_.to}};
  for (const StageChange& change : changes) {
    auto goal = RangeTest::Goal::lower;
    auto bounds = bounds_in(change.to, "%d and %d/");
    if (!bounds) {
      goal = RangeTest::Goal::schedule;
      bounds = bounds_in(change.to, "%*s %d-%d/");
    }
    if (!bounds || !fits(bounds->first) || !fits(bounds->second)) break;
    if (goal == RangeTest::Goal::schedule && !schedules_.contains(*bounds)) break;
    phases.push_back({change.step, goal, bounds->first, bounds->second});
  }
  return phases;
}

}  // namespace bitcycle
