#include "cli/cost/cost_recipe.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/backend.h"
#include "bitcycle/config/make_policy.h"
#include "bitcycle/config/progressive_policy.h"
#include "bitcycle/config/range_policy.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/cost/run_cost.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/precision_text.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/cost/cost_gates.h"
#include "cli/cost/cost_subject.h"
#include "cli/cost/cost_totals.h"
#include "cli/cost/step_cost.h"
#include "cli/cost/step_measures.h"

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

// What a recipe's steps cost: a row for each combination of bits, in the order of their appearance.
struct Row {
  LayerBits bits;
  Step steps = 0;         // 0: not known beforehand
  double full_steps = 0;  // that do their work
  double gbitops = 0;     // of a full one, a mean where overrides move on their own
  double joules = 0;      // modelled, likewise
  double normalised_macs = 0;
};
using Column = double Row::*;

struct RecipeCost {
  CostSubject subject;
  RunLength length;
  std::int64_t work = 0;  // samples or tokens of a full step
  StepShares shares;
  std::string assumption;  // about the length, and in which scheme
  std::string scheme;
  std::vector<Row> rows;
  std::vector<Row> cheapest;  // of a range test: the least that may come of it
  double gbitops_static = 0;
  Bounds gbitops;
  Total joules, normalised_macs;
};

// The columns of a full step.
Row row_of(const StepBits& bits, const StepCost& cost, const StepMeasures& measures) {
  return {bits.common, 0, 0, cost(bits), measures.joules(bits), measures.normalised_macs(bits)};
}

// Long runs have few different steps, and adding up the cost of all layers takes a while.
class StepRows {
 public:
  StepRows(const StepCost& cost, const StepMeasures& measures) : cost_(cost), measures_(measures) {}

  const Row& of(StepBits bits) {
    const auto same = [&](const Known& known) {
      return known.bits.layers == bits.layers && known.bits.counted == bits.counted;
    };
    const auto known = std::ranges::find_if(known_, same);
    if (known != known_.end()) return known->row;
    const Row row = row_of(bits, cost_, measures_);
    return known_.emplace_back(Known{std::move(bits), row}).row;
  }

 private:
  struct Known {
    StepBits bits;  // by schedule, so without mixtures
    Row row;
  };
  const StepCost& cost_;
  const StepMeasures& measures_;
  std::vector<Known> known_;
};

void add_step(const Row& own, double share, Row& row) {
  ++row.steps;
  row.full_steps += share;
  for (const Column column : {&Row::gbitops, &Row::joules, &Row::normalised_macs}) {
    row.*column += (own.*column - row.*column) * share / row.full_steps;
  }
}

std::vector<Row> scheduled_rows(const std::function<StepBits(Step)>& bits_of,
                                const StepShares& shares, Step steps, StepRows known) {
  std::vector<Row> rows;
  for (Step step = 0; step < steps; ++step) {
    StepBits bits = bits_of(step);
    auto row = std::ranges::find(rows, bits.common, &Row::bits);
    if (row == rows.end()) row = rows.insert(rows.end(), Row{bits.common});
    add_step(known.of(std::move(bits)), shares.of(step), *row);
  }
  return rows;
}

Bounds scheduled_bounds(const std::vector<Row>& rows, Column column) {
  double sum = 0;
  for (const Row& row : rows) sum += row.full_steps * row.*column;
  return {sum, sum};
}

Bounds bounds_of(const Recipe& recipe, const RecipeCost& cost, Column column) {
  if (is_automatic(recipe.precision)) {
    return {scheduled_bounds(cost.cheapest, column).least,
            cost.shares.all() * cost.rows.back().*column};
  }
  if (!recipe.precision.progressive) return scheduled_bounds(cost.rows, column);
  std::vector<double> stages;
  for (const Row& row : cost.rows) stages.push_back(row.*column);
  return staged_bounds(*recipe.precision.progressive, stages, cost.length, cost.shares);
}

void add_totals(const Recipe& recipe, const Row& fixed, RecipeCost& cost) {
  cost.gbitops = bounds_of(recipe, cost, &Row::gbitops);
  cost.joules = {bounds_of(recipe, cost, &Row::joules), cost.shares.all() * fixed.joules};
  cost.normalised_macs = {bounds_of(recipe, cost, &Row::normalised_macs),
                          cost.shares.all() * fixed.normalised_macs};
}

// A row for each width that may be tested. The least that a run can cost is the lowest width for
// all of the first cycle, and then the schedule from there.
void add_tested_rows(const Recipe& recipe, const StepCost& step_cost, const StepMeasures& measures,
                     RecipeCost& cost) {
  const RangePlans plans(recipe.precision, cost.subject.layers, cost.length);
  for (const PrecisionPlan& plan : plans.fixed()) {
    cost.rows.push_back(row_of(plan.decide(0), step_cost, measures));
  }
  const Step cycle = cost.length.steps / recipe.precision.range_test->cycles;
  const auto cheapest = [&](Step step) {
    return (step < cycle ? plans.fixed().front() : plans.lowest()).decide(step);
  };
  cost.cheapest = scheduled_rows(cheapest, cost.shares, cost.length.steps, {step_cost, measures});
  cost.gbitops_static = cost.shares.all() * step_cost.reference(plans.upper());
  add_totals(recipe, row_of(plans.upper().reference(), step_cost, measures), cost);
}

RecipeCost cost_of(const Recipe& recipe, const RecipeCostOptions& options) {
  const RunLength length = options.length.value_or(length_of(recipe, options.steps));
  RecipeCost cost{.subject = options.subject.value_or(recipe_subject(recipe)),
                  .length = length,
                  .work = work_of(recipe),
                  .shares = StepShares(length.steps, options.step_work, work_of(recipe)),
                  .assumption = assumption(recipe, options.length) + scheme_note(recipe.precision),
                  .scheme = name(recipe.precision.scheme)};
  const StepCost step_cost(cost.subject.layers, options.counting, cost.work);
  const StepMeasures measures(cost.subject.layers, cost.work);
  if (recipe.precision.progressive) {
    const ProgressivePolicy policy(recipe.precision, cost.subject.layers, cost.length);
    for (const PrecisionPlan& stage : policy.stages()) {
      cost.rows.push_back(row_of(stage.decide(0), step_cost, measures));
    }
    cost.gbitops_static = cost.shares.all() * step_cost.reference(policy);
    add_totals(recipe, row_of(policy.reference(), step_cost, measures), cost);
    return cost;
  }
  if (is_automatic(recipe.precision)) {
    add_tested_rows(recipe, step_cost, measures, cost);
    return cost;
  }
  const PrecisionPlan plan(recipe.precision, cost.subject.layers, cost.length);
  cost.rows = scheduled_rows([&](Step step) { return plan.decide(step); }, cost.shares,
                             cost.length.steps, {step_cost, measures});
  cost.gbitops_static = cost.shares.all() * step_cost.reference(plan);
  add_totals(recipe, row_of(plan.reference(), step_cost, measures), cost);
  return cost;
}

std::string total_text(const RecipeCost& cost) {
  const char* unknown =
      cost.cheapest.empty() ? "when\nits loss settles" : "the\nbounds that its range test finds";
  const auto share = [&](double gbitops) { return share_text(gbitops, cost.gbitops_static); };
  const auto [least, most] = cost.gbitops;
  if (least == most) {
    return fmt::format("the run costs {} GBitOPs, {} of static", amount_text(least), share(least));
  }
  return fmt::format(
      "the run costs from {} to {} GBitOPs, {} to {} of static: that depends on {}; `bitcycle cost "
      "RUN` says what a run has cost",
      amount_text(least), amount_text(most), share(least), share(most), unknown);
}

void print_text(const RecipeCost& cost, const RecipeCostOptions& options) {
  Table table({"bits", "steps", "GBitOPs a step", "of static"});
  const double reference = cost.gbitops_static / cost.shares.all();
  for (const Row& row : cost.rows) {
    table.add_row({to_text(row.bits), row.steps == 0 ? "-" : std::to_string(row.steps),
                   amount_text(row.gbitops), share_text(row.gbitops, reference)});
  }
  fmt::print(
      "{}, {}: {} parameters\nrun: {} steps of {} {}s{}{}\ncounting rule: {} ({})\n\n{}\n{}\n{}",
      cost.subject.name, cost.subject.shape, cost.subject.parameters, cost.length.steps, cost.work,
      cost.subject.unit, cost.shares.smaller_steps_note(), cost.assumption, name(options.counting),
      summary(options.counting), table.text(), total_text(cost),
      other_totals_text(cost.normalised_macs, cost.joules));
}

Json to_json(const RecipeCost& cost, const RecipeCostOptions& options) {
  Json rows = Json::array();
  for (const Row& row : cost.rows) {
    rows.push_back({{"bits", to_text(row.bits)},
                    {"steps", row.steps == 0 ? Json() : Json(row.steps)},
                    {"gbitops_per_step", row.gbitops},
                    {"normalised_macs_per_step", row.normalised_macs},
                    {"modelled_joules_per_step", row.joules}});
  }
  return {{"recipe", options.path},
          {"model", cost.subject.name},
          {"params", cost.subject.parameters},
          {"scheme", cost.scheme},
          {"counting", name(options.counting)},
          {"steps", cost.length.steps},
          {"batch", cost.work},
          {"rows", std::move(rows)},
          {"gbitops_least", cost.gbitops.least},
          {"gbitops_most", cost.gbitops.most},
          {"gbitops_static", cost.gbitops_static},
          {"normalised_macs_least", cost.normalised_macs.run.least},
          {"normalised_macs_most", cost.normalised_macs.run.most},
          {"normalised_macs_static", cost.normalised_macs.fixed},
          {"modelled_joules_least", cost.joules.run.least},
          {"modelled_joules_most", cost.joules.run.most},
          {"modelled_joules_static", cost.joules.fixed}};
}

}  // namespace

std::optional<Bounds> recipe_gbitops(const Recipe& recipe) {
  if (recipe.steps == 0) return std::nullopt;
  return recipe.precision.dynamic ? gates_gbitops(recipe) : cost_of(recipe, {}).gbitops;
}

void print_recipe_cost(const RecipeCostOptions& options) {
  print_recipe_cost(read_recipe(options.path, options.settings), options);
}

void print_recipe_cost(const Recipe& recipe, const RecipeCostOptions& options) {
  if (recipe.precision.dynamic) return print_gates_cost(recipe, options);
  const RecipeCost cost = cost_of(recipe, options);
  options.json ? fmt::print("{}\n", json_text(to_json(cost, options), 2))
               : print_text(cost, options);
}

}  // namespace bitcycle::cli
