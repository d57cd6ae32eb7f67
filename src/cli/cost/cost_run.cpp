#include "cli/cost/cost_run.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/make_policy.h"
#include "bitcycle/config/progressive_policy.h"
#include "bitcycle/config/range_policy.h"
#include "bitcycle/cost/run_cost.h"
#include "bitcycle/events/metrics_file.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/precision_text.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/cost/cost_gated_run.h"
#include "cli/cost/cost_subject.h"
#include "cli/cost/cost_totals.h"
#include "cli/cost/logged_shares.h"
#include "cli/cost/step_cost.h"
#include "cli/cost/step_measures.h"
#include "cli/runs/run_paths.h"
#include "cli/schedule/run_bits.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

// What the steps of a run came to, from the bits that they had.
struct RunMeasured {
  double joules = 0, normalised_macs = 0;
  double joules_static = 0, normalised_macs_static = 0;
  double gbitops = 0, gbitops_static = 0;  // by the rule that was asked for
};

// The bits of a step as every layer had them, given those that are common to most.
StepBits step_bits(const PrecisionPolicy& policy, Step step, LayerBits common) {
  if (const auto* tested = dynamic_cast<const RangePolicy*>(&policy)) {
    return tested->plans().showing(common, step);
  }
  const auto* staged = dynamic_cast<const ProgressivePolicy*>(&policy);
  if (staged == nullptr) return policy.decide(step);
  for (const PrecisionPlan& stage : staged->stages()) {
    if (stage.decide(0).common == common) return stage.decide(0);
  }
  return policy.decide(step);
}

// Of gates whose choices are of other options than the recipe's, nothing is known.
std::optional<RunMeasured> measured_of(const Recipe& recipe, const BitsView& view,
                                       const std::vector<LoggedStep>& log,
                                       const std::filesystem::path& run, Counting rule) {
  if (recipe.precision.dynamic) return std::nullopt;
  const CostSubject subject = recipe_subject(recipe, stored_vocabulary(run));
  const RunLength length = run_length(recipe, log.back());
  const auto policy = make_policy(recipe.precision, subject.layers, length);
  const StepMeasures measures(subject.layers, work_of(recipe));
  const StepCost cost(subject.layers, rule, work_of(recipe));
  const StepShares shares = logged_shares(recipe, *policy, log);
  const double steps = shares.between(0, static_cast<Step>(view.bits.size()));
  RunMeasured sum{.joules_static = steps * measures.joules(policy->reference()),
                  .normalised_macs_static = steps * measures.normalised_macs(policy->reference()),
                  .gbitops_static = steps * cost.reference(*policy)};
  for (std::size_t i = 0; i < view.bits.size(); ++i) {
    const auto step = static_cast<Step>(i);
    const StepBits bits = step_bits(*policy, step, view.bits[i]);
    const double share = shares.of(step);
    sum.joules += share * measures.joules(bits);
    sum.normalised_macs += share * measures.normalised_macs(bits);
    sum.gbitops += share * cost(bits);
  }
  return sum;
}

std::string measured_text(const std::optional<RunMeasured>& sum) {
  if (!sum) return "";
  return other_totals_text(
      {{sum->normalised_macs, sum->normalised_macs}, sum->normalised_macs_static},
      {{sum->joules, sum->joules}, sum->joules_static});
}

// The trainer counts by `paper`, and the log has its sums; by another rule the steps are counted
// anew, from the bits that they had.
struct RunSpent {
  double gbitops = 0, gbitops_static = 0;
  std::string closing;
};

RunSpent spent_of(const BitsView& view, const LoggedStep& last,
                  const std::optional<RunMeasured>& measured, const RecipeCostOptions& options) {
  if (options.counting == Counting::paper) {
    return {last.gbitops, last.gbitops_static, view.closing};
  }
  if (!measured || !view.explained) {
    throw Error(ErrorCode::usage,
                fmt::format("--counting {} needs the bits of every layer, and {} has logged others "
                            "than its recipe says",
                            name(options.counting), options.path),
                "Leave it out: the run itself counted by the rule \"paper\".");
  }
  return {measured->gbitops, measured->gbitops_static,
          fmt::format(
              "spent {} GBitOPs, {} of static {} (counted anew)\n", amount_text(measured->gbitops),
              share_text(measured->gbitops, measured->gbitops_static), to_text(view.upper))};
}

Json run_json(const BitsView& view, const LoggedStep& last, const RunSpent& spent,
              const std::optional<RunMeasured>& measured, const RecipeCostOptions& options) {
  Json rows = Json::array();
  for (const StretchOfBits& stretch : stretches(view.bits)) {
    rows.push_back({{"bits", to_text(stretch.bits)}, {"steps", stretch.steps}});
  }
  Json json = {{"run", options.path},
               {"steps", last.step},
               {"counting", name(options.counting)},
               {"rows", std::move(rows)},
               {"gbitops", spent.gbitops},
               {"gbitops_static", spent.gbitops_static},
               {"saving_percent", saving_percent(spent.gbitops, spent.gbitops_static)}};
  if (measured) {
    json["normalised_macs"] = measured->normalised_macs;
    json["normalised_macs_static"] = measured->normalised_macs_static;
    json["modelled_joules"] = measured->joules;
    json["modelled_joules_static"] = measured->joules_static;
  }
  return json;
}

}  // namespace

void print_run_cost(const RecipeCostOptions& options) {
  const std::filesystem::path run = options.path;
  const Recipe recipe = read_recipe(run_recipe(run));
  if (const auto gates = run_choices(run)) return print_gated_run_cost(recipe, *gates, options);
  const BitsView view = run_bits(run);
  const std::vector<LoggedStep> log = run_log(run);
  const LoggedStep& last = log.back();
  const auto measured = measured_of(recipe, view, log, run, options.counting);
  const RunSpent spent = spent_of(view, last, measured, options);
  if (options.json) {
    fmt::print("{}\n", json_text(run_json(view, last, spent, measured, options), 2));
    return;
  }
  Table table({"bits", "first step", "steps"});
  for (const StretchOfBits& stretch : stretches(view.bits)) {
    table.add_row(
        {to_text(stretch.bits), std::to_string(stretch.first), std::to_string(stretch.steps)});
  }
  fmt::print("{}, step {} of {}\ncounting rule: {} ({})\n\n{}\n{}saving {}\n{}", options.path,
             last.step, view.total, name(options.counting), summary(options.counting), table.text(),
             spent.closing, percent_text(saving_percent(spent.gbitops, spent.gbitops_static)),
             measured_text(measured));
}

}  // namespace bitcycle::cli
