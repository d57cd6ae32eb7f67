#include "cli/cost_recipe.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/progressive_policy.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/cost/run_cost.h"
#include "bitcycle/events/metrics_file.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/cost_gates.h"
#include "cli/cost_subject.h"
#include "cli/run_bits.h"
#include "cli/step_cost.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

// What a recipe's steps cost: a row for each combination of bits, in the order of their appearance.
struct Row {
  LayerBits bits;
  Step steps = 0;      // 0: not known beforehand
  double gbitops = 0;  // of one step, a mean where overrides move on their own
};

struct RecipeCost {
  CostSubject subject;
  RunLength length;
  std::int64_t work = 0;  // samples or tokens of a step
  std::vector<Row> rows;
  double gbitops_static = 0;
  Bounds gbitops;
};

std::vector<Row> scheduled_rows(const PrecisionPlan& plan, Step steps, const StepCost& cost) {
  std::vector<Row> rows;
  for (Step step = 0; step < steps; ++step) {
    const StepBits bits = plan.decide(step);
    auto row = std::ranges::find(rows, bits.common, &Row::bits);
    if (row == rows.end()) row = rows.insert(rows.end(), {bits.common, 0, 0});
    ++row->steps;
    row->gbitops += (cost(bits) - row->gbitops) / static_cast<double>(row->steps);
  }
  return rows;
}

Bounds scheduled_bounds(const std::vector<Row>& rows) {
  double sum = 0;
  for (const Row& row : rows) sum += static_cast<double>(row.steps) * row.gbitops;
  return {sum, sum};
}

std::vector<double> stage_costs(const std::vector<Row>& rows) {
  std::vector<double> costs;
  for (const Row& row : rows) costs.push_back(row.gbitops);
  return costs;
}

RecipeCost cost_of(const Recipe& recipe, const RecipeCostOptions& options) {
  RecipeCost cost{.subject = recipe_subject(recipe),
                  .length = length_of(recipe, options.steps),
                  .work = work_of(recipe)};
  const StepCost step_cost(cost.subject.layers, options.counting, cost.work);
  const auto steps = static_cast<double>(cost.length.steps);
  if (recipe.precision.progressive) {
    const ProgressivePolicy policy(recipe.precision, cost.subject.layers, cost.length);
    for (const PrecisionPlan& stage : policy.stages()) {
      const StepBits bits = stage.decide(0);
      cost.rows.push_back({bits.common, 0, step_cost(bits)});
    }
    cost.gbitops_static = steps * step_cost.reference(policy);
    cost.gbitops =
        staged_bounds(*recipe.precision.progressive, stage_costs(cost.rows), cost.length);
    return cost;
  }
  const PrecisionPlan plan(recipe.precision, cost.subject.layers, cost.length);
  cost.rows = scheduled_rows(plan, cost.length.steps, step_cost);
  cost.gbitops_static = steps * step_cost.reference(plan);
  cost.gbitops = scheduled_bounds(cost.rows);
  return cost;
}

std::string total_text(const RecipeCost& cost) {
  const auto percent = [&](double gbitops) { return 100 * gbitops / cost.gbitops_static; };
  const auto [least, most] = cost.gbitops;
  if (least == most) {
    return fmt::format("the run costs {:.4g} GBitOPs, {:.1f} % of static", least, percent(least));
  }
  return fmt::format(
      "the run costs from {:.4g} to {:.4g} GBitOPs, {:.1f} to {:.1f} % of static: that depends on "
      "when\nits loss settles; `bitcycle cost RUN` says what a run has cost",
      least, most, percent(least), percent(most));
}

void print_text(const RecipeCost& cost, const RecipeCostOptions& options) {
  Table table({"bits", "steps", "GBitOPs a step", "% of static"});
  const double reference = cost.gbitops_static / static_cast<double>(cost.length.steps);
  for (const Row& row : cost.rows) {
    table.add_row({to_text(row.bits), row.steps == 0 ? "-" : std::to_string(row.steps),
                   fmt::format("{:.4g}", row.gbitops),
                   fmt::format("{:.1f}", 100 * row.gbitops / reference)});
  }
  fmt::print("{}, {}: {} parameters\nrun: {} steps of {} {}s\ncounting rule: {} ({})\n\n{}\n{}\n",
             cost.subject.name, cost.subject.shape, cost.subject.parameters, cost.length.steps,
             cost.work, cost.subject.unit, name(options.counting), summary(options.counting),
             table.text(), total_text(cost));
}

Json to_json(const RecipeCost& cost, const RecipeCostOptions& options) {
  Json rows = Json::array();
  for (const Row& row : cost.rows) {
    rows.push_back({{"bits", to_text(row.bits)},
                    {"steps", row.steps == 0 ? Json() : Json(row.steps)},
                    {"gbitops_per_step", row.gbitops}});
  }
  return {{"recipe", options.path},
          {"model", cost.subject.name},
          {"params", cost.subject.parameters},
          {"counting", name(options.counting)},
          {"steps", cost.length.steps},
          {"batch", cost.work},
          {"rows", std::move(rows)},
          {"gbitops_least", cost.gbitops.least},
          {"gbitops_most", cost.gbitops.most},
          {"gbitops_static", cost.gbitops_static}};
}

}  // namespace

void print_recipe_cost(const RecipeCostOptions& options) {
  const Recipe recipe = read_recipe(options.path);
  if (recipe.precision.dynamic) return print_gates_cost(recipe, options);
  const RecipeCost cost = cost_of(recipe, options);
  options.json ? fmt::print("{}\n", json_text(to_json(cost, options), 2))
               : print_text(cost, options);
}

// By the rule that the run's log names; the trainer counts by `paper` alone.
void print_run_cost(const RecipeCostOptions& options) {
  const BitsView view = run_bits(options.path);
  const LoggedStep last = logged_steps(options.path).back();
  const double saving = saving_percent(last.gbitops, last.gbitops_static);
  if (options.json) {
    Json rows = Json::array();
    for (const StretchOfBits& stretch : stretches(view.bits)) {
      rows.push_back({{"bits", to_text(stretch.bits)}, {"steps", stretch.steps}});
    }
    fmt::print("{}\n", json_text({{"run", options.path},
                                  {"steps", last.step},
                                  {"counting", name(Counting::paper)},
                                  {"rows", std::move(rows)},
                                  {"gbitops", last.gbitops},
                                  {"gbitops_static", last.gbitops_static},
                                  {"saving_percent", saving}},
                                 2));
    return;
  }
  Table table({"bits", "first step", "steps"});
  for (const StretchOfBits& stretch : stretches(view.bits)) {
    table.add_row(
        {to_text(stretch.bits), std::to_string(stretch.first), std::to_string(stretch.steps)});
  }
  fmt::print("{}, step {} of {}\ncounting rule: {} ({})\n\n{}\n{}saving {:.1f} %\n", options.path,
             last.step, view.total, name(Counting::paper), summary(Counting::paper), table.text(),
             view.closing, saving);
}

}  // namespace bitcycle::cli
