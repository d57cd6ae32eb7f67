#include "cli/cost/cost_gated_run.h"

#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/cost/run_cost.h"
#include "bitcycle/report/format.h"

#include "cli/cost/cost_subject.h"
#include "cli/cost/gates_besides.h"
#include "cli/cost/logged_shares.h"
#include "cli/cost/step_measures.h"
#include "cli/schedule/run_bits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

// What was spent, beside what static would have cost.
struct Spent {
  double sum = 0, fixed = 0;
};

struct Counted {
  Spent gbitops;
  Besides besides;
};

struct GatedRunCost {
  Counted by_rule, executed;  // executed: by the rule `bitcycle`
  Spent normalised_macs, joules;
};

// The steps of a run, of batches that were so full.
struct CountedSteps {
  const GatedBits& run;
  const DynamicPolicy& policy;
  StepShares shares;
};

// Of a measure of full steps; each logged choice stands for the samples since the one before.
template <class Measure>
double sum_over(const CountedSteps& steps, const Measure& measure) {
  double sum = 0;
  for (const ChosenSteps& one : steps.run.logged) {
    sum += steps.shares.between(one.first, one.first + one.steps) *
           measure(chosen_step(steps.policy, one.shares));
  }
  return sum;
}

Counted counted_by(Counting rule, const CountedSteps& steps, double work) {
  const DynamicPolicy& policy = steps.policy;
  const StepCost step(policy.layers(), rule, work);
  const StepCost whole(policy.layers(), rule, work * steps.shares.all());
  return {{sum_over(steps, step), whole.reference(policy)}, besides_of(policy, whole)};
}

// The log's own sums, where it counts by the rule that is asked for.
GatedRunCost cost_of(const Recipe& recipe, const GatedBits& run, Counting rule) {
  const CostSubject subject = recipe_subject(recipe);
  const std::vector<LoggedStep> log = run_log(run.run);
  const DynamicPolicy policy(recipe.precision, subject.layers, run_length(recipe, run.last));
  const CountedSteps steps{run, policy, logged_shares(recipe, policy, log)};
  const auto work = static_cast<double>(work_of(recipe));
  const StepMeasures measures(subject.layers, work_of(recipe));
  const double full = steps.shares.all();
  GatedRunCost cost{.by_rule = counted_by(rule, steps, work),
                    .executed = counted_by(Counting::bitcycle, steps, work)};
  if (rule == Counting::paper) cost.by_rule.gbitops = {run.last.gbitops, run.last.gbitops_static};
  cost.normalised_macs = {
      sum_over(steps, [&](const StepBits& bits) { return measures.normalised_macs(bits); }),
      full * measures.static_normalised_macs(policy)};
  cost.joules = {sum_over(steps, [&](const StepBits& bits) { return measures.joules(bits); }),
                 full * measures.static_joules(policy)};
  return cost;
}

std::string spent_line(const char* what, const Spent& spent, double unit) {
  return fmt::format("{}: {}, {} of static\n", what, amount_text(spent.sum / unit),
                     share_text(spent.sum, spent.fixed));
}

std::string total_text(const GatedRunCost& cost, const GatedBits& run, Counting rule) {
  if (rule == Counting::paper) return spent_text(run.last, kGatesReference);
  const Spent& spent = cost.by_rule.gbitops;
  return fmt::format("spent {} GBitOPs, {} of static {} (from the choices in metrics.jsonl)\n",
                     amount_text(spent.sum), share_text(spent.sum, spent.fixed),
                     to_text(kGatesReference));
}

std::string executed_text(const Counted& executed) {
  return fmt::format(
      "with all float layers counted 32 x 32 (rule bitcycle): {} GBitOPs, {} of static; the float "
      "layers {}: {}\n",
      amount_text(executed.gbitops.sum), share_text(executed.gbitops.sum, executed.gbitops.fixed),
      amount_text(executed.besides.in_float), fmt::join(executed.besides.float_layers, ", "));
}

void print_cost_text(const GatedRunCost& cost, const GatedBits& run, Counting rule) {
  const Spent& spent = cost.by_rule.gbitops;
  fmt::print("{}, step {} of {}\ncounting rule: {} ({})\n\n{}\n{}saving {}\n", run.run,
             run.last.step, run.total, name(rule), summary(rule), stage_table(run),
             total_text(cost, run, rule), percent_text(saving_percent(spent.sum, spent.fixed)));
  fmt::print("of that, whatever the gates chose, in GBitOPs:\n{}",
             besides_lines(cost.by_rule.besides, spent.fixed));
  if (rule != Counting::bitcycle) fmt::print("{}", executed_text(cost.executed));
  fmt::print("{}{}", spent_line("FracTrain's normalised MACs", cost.normalised_macs, 1),
             spent_line("modelled energy in kJ (45 nm; docs/cost.md)", cost.joules, 1e3));
}

Json to_json(const GatedRunCost& cost, const GatedBits& run, Counting rule) {
  const Spent &spent = cost.by_rule.gbitops, &executed = cost.executed.gbitops;
  Json json = {{"run", run.run},
               {"steps", run.last.step},
               {"counting", name(rule)},
               {"stages", stages_json(run)},
               {"gbitops", spent.sum},
               {"gbitops_static", spent.fixed},
               {"saving_percent", saving_percent(spent.sum, spent.fixed)}};
  json.update(besides_json(cost.by_rule.besides, ""));
  json.update(Json{{"executed_gbitops", executed.sum},
                   {"executed_gbitops_static", executed.fixed},
                   {"executed_float_gbitops", cost.executed.besides.in_float},
                   {"normalised_macs", cost.normalised_macs.sum},
                   {"normalised_macs_static", cost.normalised_macs.fixed},
                   {"modelled_joules", cost.joules.sum},
                   {"modelled_joules_static", cost.joules.fixed}});
  return json;
}

}  // namespace

void print_gated_run_cost(const Recipe& recipe, const GatedBits& run,
                          const RecipeCostOptions& options) {
  const GatedRunCost cost = cost_of(recipe, run, options.counting);
  options.json ? fmt::print("{}\n", json_text(to_json(cost, run, options.counting), 2))
               : print_cost_text(cost, run, options.counting);
}

}  // namespace bitcycle::cli
