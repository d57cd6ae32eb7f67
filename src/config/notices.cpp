#include "bitcycle/config/notices.h"

#include "bitcycle/config/averaging.h"
#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/config/learning_rate.h"
#include "bitcycle/config/progressive_policy.h"
#include "bitcycle/config/range_plans.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/cost/cost_model.h"
#include "bitcycle/schedule/notices.h"

#include "config/epoch_interval.h"
#include "config/fields.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle {
namespace {

// How often the schedules of a run advance.
Step advances(PrecisionRecipe::Per per, const RunLength& length) {
  return per == PrecisionRecipe::Per::step ? length.steps
                                           : epoch_count(length.steps, length.steps_per_epoch);
}

class NoticeVisitor {
 public:
  NoticeVisitor(PrecisionRecipe::Per per, const RunLength& length)
      : total_(advances(per, length)),
        unit_(per == PrecisionRecipe::Per::step ? "steps" : "epochs") {}

  void operator()(const Field& field, const Section auto& section) {
    prefix_ = std::string(field.key) + ".";
    describe(*this, section);
  }
  void operator()(const Field& field, const ScheduleSpec& spec) {
    if (spec.name == kAutomaticForward) return;
    for (const std::string& notice : schedule_notices(spec, total_, unit_)) {
      notices.push_back(fmt::format("{}{}: {}", prefix_, field.key, notice));
    }
  }
  void operator()(const Field& field, const std::optional<ScheduleSpec>& spec) {
    if (spec) (*this)(field, *spec);
  }
  void operator()(const Field& field, const std::vector<LayerOverride>& overrides) {
    const std::string outer = prefix_;
    for (const LayerOverride& entry : overrides) {
      prefix_ = fmt::format("{}{} of {}: ", outer, field.key, entry.layers);
      describe(*this, entry);
    }
    prefix_ = outer;
  }
  template <class Other>
  void operator()(const Field&, const Other&) {}

  std::vector<std::string> notices;

 private:
  Step total_;
  std::string_view unit_;
  std::string prefix_;
};

// A stage that nothing ends before its time lasts at least a window.
std::vector<std::string> stage_notices(const IndicatorRecipe& recipe, const std::string& table,
                                       Step turning_points, const RunLength& length) {
  if (!recipe.deadlines.empty()) return {};
  const Step period = recipe.period > 0 ? recipe.period : length.steps_per_epoch;
  const Step needed = turning_points * recipe.window;
  // A change after the last step is none.
  const Step periods = (length.steps - 1) / period;
  if (periods >= needed) return {};
  return {fmt::format(
      "{}: the last of {} stages cannot be reached: that takes {} periods of {} steps or more, and "
      "the run has {} steps; take a shorter period or window, fewer stages, deadlines, or a longer "
      "run",
      table, turning_points + 1, needed, period, length.steps)};
}

std::vector<std::string> gate_cost_notices(const Recipe& recipe, const RunLength& length) {
  const DynamicPolicy policy(recipe.precision, layers_of(picture_network(recipe)), length);
  return gate_cost_notices(policy, Counting::paper);
}

// Whether errors, of the layers that have no bits of their own, ever have a single bit.
bool has_one_bit_errors(PrecisionRecipe precision, const RunLength& length) {
  if (precision.progressive) return std::ranges::count(precision.progressive->backward, 1) > 0;
  if (precision.dynamic) {
    return std::ranges::count(precision.dynamic->options, 1, &PrecisionOption::error) > 0;
  }
  precision.overrides.clear();
  precision.forward = {};
  return PrecisionPlan(precision, {LayerInfo{}}, length).widths().front().error.min == 1;
}

std::vector<std::string> error_notices(const Recipe& recipe, const RunLength& length) {
  if (!has_one_bit_errors(recipe.precision, length)) return {};
  return {
      "errors of 1 bit are the least or the greatest of their tensor and nothing between: "
      "expect the loss not to fall, or the run to diverge; the integer kernels take 2 bits or "
      "more, and the papers 6 or more"};
}

// What the shortest test, and the longest, come to in a run that is not long.
std::vector<std::string> range_test_notices(const RangeTestRecipe& recipe, Step steps) {
  constexpr double kMuch = 0.05;
  const RangeTestOptions options = range_test_options(recipe, steps);
  const Step least = RangeTest::least_steps(options), most = RangeTest::most_steps(options);
  if (least > options.limit) {
    return {
        fmt::format("precision.range_test: the first cycle has {} steps, and the shortest test "
                    "takes {}: it will "
                    "end undecided, at {} bits; take a longer run, fewer cycles or smaller blocks",
                    options.limit, least, recipe.to)};
  }
  const auto share = [&](Step part) {
    return static_cast<double>(part) / static_cast<double>(steps);
  };
  if (share(most) <= kMuch) return {};
  return {
      fmt::format("precision.range_test: the test takes {} to {} of the run's {} steps, {:.1f} to "
                  "{:.1f} %, where "
                  "5 % is much; more cycles bound it, in a longer run it weighs less",
                  least, most, steps, 100 * share(least), 100 * share(most))};
}

std::vector<std::string> precision_notices(const Recipe& recipe, const RunLength& length) {
  if (is_automatic(recipe.precision)) {
    return range_test_notices(recipe.precision.range_test.value_or(RangeTestRecipe()),
                              length.steps);
  }
  if (const auto& stages = recipe.precision.progressive) {
    return stage_notices(*stages, "precision.progressive", std::ssize(stages_of(*stages)) - 1,
                         length);
  }
  const auto& gates = recipe.precision.dynamic;
  if (!gates) return {};
  std::vector<std::string> notices = target_notices(recipe);
  const auto more =
      stage_notices(*gates, "precision.dynamic", std::ssize(gates->target) - 1, length);
  notices.insert(notices.end(), more.begin(), more.end());
  const auto dear = gate_cost_notices(recipe, length);
  notices.insert(notices.end(), dear.begin(), dear.end());
  return notices;
}

// Of so many evenly spaced steps, those at which WAGEUBN's learning rate of 10 bits is 0.
Step frozen_steps(const Recipe& recipe, const RunLength& length) {
  constexpr Step kAsked = 1000;
  constexpr double kHalfStep = 0x1p-10;
  const Step asked = std::min(kAsked, length.steps);
  Step frozen = 0;
  for (Step i = 0; i < asked; ++i) {
    const Step step = i * length.steps / asked;
    frozen +=
        learning_rate(recipe.optimizer.lr, recipe.lr_schedule, step, length.steps) <= kHalfStep;
  }
  return frozen * length.steps / asked;
}

// WAGEUBN's weight gradients have lost their magnitude, and its rates their digits.
std::vector<std::string> scheme_notices(const Recipe& recipe, const RunLength& length) {
  constexpr double kLargeRate = 0.02;
  const OptimizerRecipe& optimizer = recipe.optimizer;
  if (recipe.precision.scheme == SchemeName::wageubn_lite && optimizer.lr > kLargeRate &&
      optimizer.name == OptimizerRecipe::Name::sgd) {
    return {
        fmt::format("optimizer.lr: in the scheme \"wageubn-lite\" the largest gradient of a weight "
                    "is about 1 at every step, so that {:g} is a high rate; 0.005 is usual",
                    optimizer.lr)};
  }
  if (recipe.precision.scheme != SchemeName::wageubn_full) return {};
  const Step frozen = frozen_steps(recipe, length);
  if (frozen == 0) return {};
  return {
      fmt::format("lr_schedule: the scheme \"wageubn-full\" rounds rates to multiples of 1/512: "
                  "in about {} of {} steps it is 0, and nothing is learned",
                  frozen, length.steps)};
}

// No error, however the length is given: recipes are shortened to be tried.
std::vector<std::string> warmup_notices(const Recipe& recipe, const RunLength& length) {
  const Step warmup = warmup_length(recipe.lr_schedule, length.steps);
  if (warmup == 0 || length.steps == 0 || 2 * warmup <= length.steps) return {};
  const bool rises = recipe.lr_schedule.warmup == LearningRateRecipe::Warmup::linear;
  const Step shorter = length.steps / 10;
  return {fmt::format(
      "lr_schedule: the learning rate {} for {} of the run's {} step{}; for a run as short as "
      "this, take {}",
      rises ? std::string("rises")
            : fmt::format("is {:g} of optimizer.lr", recipe.lr_schedule.warmup_factor),
      std::min(warmup, length.steps), length.steps, length.steps == 1 ? "" : "s",
      shorter > 0 ? fmt::format("warmup_steps = {} or so, or warmup_fraction = 0.1", shorter)
                  : std::string("no warm-up: warmup_steps = 0"))};
}

std::vector<std::string> averaging_notices(const Recipe& recipe, const RunLength& length) {
  if (!recipe.averaging || length.steps == 0) return {};
  if (averaged_points(*recipe.averaging, length) > 1) return {};
  return {fmt::format(
      "averaging: the last weights alone will be averaged: the run has {} steps, {:g} epochs are "
      "{}, and averaging starts at step {}; start earlier, average more often, or train longer",
      length.steps, recipe.averaging->every_epochs,
      epoch_interval(recipe.averaging->every_epochs, length.steps_per_epoch),
      first_averaged(*recipe.averaging, length))};
}

}  // namespace

std::vector<std::string> target_notices(const Recipe& run) {
  if (!run.precision.dynamic) return {};
  const DynamicRecipe& recipe = *run.precision.dynamic;
  const GateObjective objective(recipe, block_weights(layers_of(picture_network(run))));
  std::vector<std::string> notices;
  for (std::size_t i = 0; i < recipe.target.size(); ++i) {
    const double target = recipe.target[i];
    const bool low = target < objective.least_cp();
    if (!low && target <= objective.most_cp()) continue;
    const std::string stage =
        recipe.target.size() > 1 ? fmt::format(" of stage {}", i + 1) : std::string();
    notices.push_back(fmt::format(
        "precision.dynamic.target: {}{} cannot be reached: the options cost {:.3f} to {:.3f} %, so "
        "the gates are driven to the {}",
        target_text(target), stage, objective.least_cp(), objective.most_cp(),
        low ? "cheapest" : "dearest"));
  }
  return notices;
}

std::vector<std::string> gate_cost_notices(const DynamicPolicy& policy, Counting rule) {
  const CostModel model(policy.layers(), rule);
  const auto counted = [&](const StepBits& bits) {
    const auto& layers = rule == Counting::bitcycle ? bits.layers : bits.counted;
    return model.sample_cost(layers, bits.mixtures).total();
  };
  const auto cost = [&](std::size_t option) {
    std::vector<double> shares(policy.options().size(), 0.0);
    shares[option] = 1;
    return counted(policy.chosen(shares));
  };
  const double fixed = counted(policy.reference()) - model.gates_cost().total();
  std::string dear;
  std::size_t count = 0;
  for (std::size_t i = 0; i < policy.options().size(); ++i) {
    const double percent = 100 * cost(i) / fixed;
    if (percent < 100) continue;
    dear += fmt::format("{}{} ({:.1f} %)", count++ == 0 ? "" : ", ", to_text(policy.options()[i]),
                        percent);
  }
  if (count == 0) return {};
  const bool all = count == policy.options().size();
  return {fmt::format(
      "precision.dynamic.options: with its gates, {} not less than static {} without gates: {}{}",
      count == 1 ? "an option costs" : "options cost", to_text(kGatesReference), dear,
      all ? "; no choice saves anything" : "")};
}

// Statistics of a handful of values are noise, which the running ones of evaluation do not follow.
std::vector<std::string> norm_notices(const Network& network, std::int64_t batch) {
  constexpr std::int64_t kFewValues = 8;
  const Node* least = nullptr;
  const auto values = [&](const Node& node) { return batch * node.out.height * node.out.width; };
  for (const Node& node : network.nodes) {
    if (node.norm_name.empty()) continue;
    if (least == nullptr || values(node) < values(*least)) least = &node;
  }
  if (least == nullptr || values(*least) >= kFewValues) return {};
  return {fmt::format(
      "data.batch_size: the batch norm of {} sees {} values of a channel at a time ({} x {} x "
      "{}){}, too few to tell their mean and variance: expect evaluations to be poor or not "
      "finite; take larger batches or pictures",
      least->name, values(*least), batch, least->out.height, least->out.width,
      network.has_gates() ? ", fewer where gates skip" : "")};
}

std::vector<std::string> notices(const Recipe& recipe, const RunLength& length) {
  NoticeVisitor visitor(recipe.precision.per, length);
  describe(visitor, recipe);
  std::vector<std::string> notices = std::move(visitor.notices);
  for (const auto& more : {error_notices(recipe, length), precision_notices(recipe, length),
                           scheme_notices(recipe, length), warmup_notices(recipe, length),
                           averaging_notices(recipe, length)}) {
    notices.insert(notices.end(), more.begin(), more.end());
  }
  return notices;
}

}  // namespace bitcycle
