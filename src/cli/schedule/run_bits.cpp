#include "cli/schedule/run_bits.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/progressive_policy.h"
#include "bitcycle/config/range_plans.h"
#include "bitcycle/events/metrics_file.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/precision_text.h"

#include "cli/runs/run_paths.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

void require_shown(Step steps) {
  if (steps <= kMostShownSteps) return;
  throw Error(ErrorCode::usage, fmt::format("expected a run of at most {} steps to show, found {}",
                                            kMostShownSteps, steps));
}

// Overrides concern some of the layers; what is shown is common to the others.
PrecisionPlan common_plan(PrecisionRecipe recipe, RunLength length) {
  recipe.overrides.clear();
  return PrecisionPlan(recipe, {}, length);
}

RangePlans common_plans(PrecisionRecipe recipe, RunLength length) {
  recipe.overrides.clear();
  return RangePlans(recipe, {}, length);
}

std::vector<LayerBits> scheduled_bits(const PrecisionRecipe& recipe, RunLength length, Step steps) {
  const PrecisionPlan plan = common_plan(recipe, length);
  std::vector<LayerBits> bits;
  for (Step step = 0; step < steps; ++step) bits.push_back(plan.decide(step).common);
  return bits;
}

// A layer in float has errors in float too, as PrecisionPlan has it.
std::vector<LayerBits> stage_bits(const ProgressiveRecipe& recipe) {
  std::vector<LayerBits> stages = stages_of(recipe);
  for (LayerBits& bits : stages) {
    if (bits.weight == 0) bits = {};
  }
  return stages;
}

std::vector<LayerBits> staged_bits(const ProgressiveRecipe& recipe,
                                   const std::vector<StageChange>& changes, Step steps) {
  const std::vector<LayerBits> stages = stage_bits(recipe);
  std::vector<LayerBits> bits;
  for (Step step = 0; step < steps; ++step) {
    const auto begun = static_cast<std::size_t>(std::ranges::count_if(
        changes, [&](const StageChange& change) { return change.step <= step; }));
    bits.push_back(stages[std::min(begun, stages.size() - 1)]);
  }
  return bits;
}

// Each logged step speaks for those since the one before.
std::vector<LayerBits> logged_bits(const std::vector<LoggedStep>& log) {
  std::vector<LayerBits> bits;
  for (const LoggedStep& logged : log)
    bits.resize(static_cast<std::size_t>(logged.step), logged.bits);
  return bits;
}

bool agree(const std::vector<LayerBits>& bits, const std::vector<LoggedStep>& log) {
  return std::ranges::all_of(log, [&](const LoggedStep& logged) {
    return bits[static_cast<std::size_t>(logged.step - 1)] == logged.bits;
  });
}

std::vector<LayerBits> tested_bits(const PrecisionRecipe& recipe, RunLength length,
                                   const std::vector<StageChange>& changes, Step steps) {
  const RangePlans plans = common_plans(recipe, length);
  const RangeTest::Phases phases = plans.phases(changes);
  std::vector<LayerBits> bits;
  for (Step step = 0; step < steps; ++step) bits.push_back(plans.decide(phases, step).common);
  return bits;
}

std::vector<LayerBits> explained_bits(const Recipe& recipe, const fs::path& run, RunLength length,
                                      Step steps) {
  const PrecisionRecipe& precision = recipe.precision;
  if (!is_closed_loop(precision)) return scheduled_bits(precision, length, steps);
  constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
  const std::vector<StageChange> changes = logged_stages(run, kAll);
  return precision.progressive ? staged_bits(*precision.progressive, changes, steps)
                               : tested_bits(precision, length, changes, steps);
}

LayerBits upper_bits(const PrecisionRecipe& recipe, RunLength length) {
  if (recipe.dynamic) return kGatesReference;
  if (recipe.progressive) return stage_bits(*recipe.progressive).back();
  if (is_automatic(recipe)) return common_plans(recipe, length).upper().upper().common;
  return common_plan(recipe, length).upper().common;
}

RunLength drawn_length(double epochs, Step steps) {
  const double whole = std::max(1.0, std::ceil(epochs));
  return {steps, std::max<Step>(1, std::llround(static_cast<double>(steps) / whole))};
}

}  // namespace

// Lines of steps that a killed process did twice, or in no order, are none that a run leaves.
std::vector<LoggedStep> run_log(const fs::path& run) {
  std::vector<LoggedStep> log = logged_steps(run);
  std::erase_if(log, [](const LoggedStep& logged) { return logged.step < 1; });
  if (log.empty() || !std::ranges::is_sorted(log, {}, &LoggedStep::step)) {
    throw Error(ErrorCode::usage, "the run in \"" + run.string() + "\" has logged no steps yet",
                "metrics.jsonl has a line every log_every steps; wait for the first.");
  }
  require_shown(log.back().step);
  return log;
}

RunLength run_length(const Recipe& recipe, const LoggedStep& last) {
  const double per_epoch = last.epoch > 0 ? static_cast<double>(last.step) / last.epoch : 1;
  const Step steps_per_epoch = std::max<Step>(1, std::llround(per_epoch));
  const double steps = recipe.epochs * static_cast<double>(steps_per_epoch);
  return {recipe.steps > 0 ? recipe.steps : std::max<Step>(1, std::llround(steps)),
          steps_per_epoch};
}

std::string spent_text(const LoggedStep& last, LayerBits upper) {
  return fmt::format("spent {} GBitOPs, {} of static {} (from metrics.jsonl)\n",
                     amount_text(last.gbitops), share_text(last.gbitops, last.gbitops_static),
                     to_text(upper));
}

std::optional<GatedBits> run_choices(const fs::path& run) {
  const Recipe recipe = read_recipe(run_recipe(run));
  if (!recipe.precision.dynamic) return std::nullopt;
  const std::vector<LoggedStep> log = run_log(run);
  return gated_bits(run, recipe, log, run_length(recipe, log.back()).steps);
}

BitsView run_bits(const fs::path& run) {
  const Recipe recipe = read_recipe(run_recipe(run));
  const std::vector<LoggedStep> log = run_log(run);
  const LoggedStep& last = log.back();
  const RunLength length = run_length(recipe, last);
  std::vector<LayerBits> bits =
      recipe.precision.dynamic ? logged_bits(log) : explained_bits(recipe, run, length, last.step);
  const bool explained = agree(bits, log);
  if (!explained) bits = logged_bits(log);
  const LayerBits upper = upper_bits(recipe.precision, length);
  return {.title = fmt::format("{}: the bits that it had{}", run.string(),
                               recipe.precision.dynamic
                                   ? ", means over blocks and samples, rounded to whole bits"
                               : explained ? ""
                                           : ", as logged: the recipe says otherwise, and was "
                                             "probably changed under way"),
          .bits = std::move(bits),
          .total = length.steps,
          .upper = upper,
          .closing = spent_text(last, upper),
          .explained = explained && !recipe.precision.dynamic};
}

BitsView planned_bits(const Recipe& recipe, const std::string& title, const RunLength& assumed) {
  const bool known = recipe.steps > 0;
  const RunLength length = known ? RunLength{recipe.steps, assumed.steps_per_epoch}
                                 : drawn_length(recipe.epochs, assumed.steps);
  require_shown(length.steps);
  if (known && recipe.precision.per == PrecisionRecipe::Per::epoch &&
      assumed.steps_per_epoch == 1) {
    throw Error(ErrorCode::usage, title + " advances once an epoch, and gives its length in steps",
                "Say how many steps an epoch has: --steps-per-epoch N.");
  }
  const std::string drawn =
      fmt::format(", its {:g} epochs drawn as {} steps", recipe.epochs, length.steps);
  return {.title = title + scheme_note(recipe.precision) + ": the bits that it plans" +
                   (known ? "" : drawn),
          .bits = scheduled_bits(recipe.precision, length, length.steps),
          .total = length.steps,
          .upper = upper_bits(recipe.precision, length)};
}

}  // namespace bitcycle::cli
