#include "cli/cost/cost_gates.h"

#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/config/notices.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/precision_text.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/cost/cost_subject.h"
#include "cli/cost/gates_besides.h"
#include "cli/cost/step_cost.h"
#include "cli/cost/step_measures.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

struct OptionRow {
  std::string option;
  double cp = 0;
  double blocks = 0;   // GBitOPs of a sample in the layers that gates choose for
  double gbitops = 0;  // of a sample
  double joules = 0;   // of a step, modelled
  double normalised_macs = 0;
};

// A measure of the run: from the cheapest option to the dearest, and if the targets are met.
struct OtherMeasure {
  Bounds run, at_targets;
  double fixed = 0;  // static
};

struct TargetRow {
  double target = 0;
  bool reachable = true;
  double gbitops = 0;  // of a sample, if all blocks choose alike
};

struct GatesCost {
  CostSubject subject;
  RunLength length;
  std::int64_t work = 0;  // samples of a full step
  StepShares shares;
  std::string scheme;  // scheme_note
  std::vector<OptionRow> options;
  std::vector<TargetRow> targets;
  Besides besides;
  double gbitops_static = 0;  // of a sample
  Bounds cp;                  // that can be reached
  Bounds gbitops;             // of the run, whatever is chosen
  Bounds gbitops_at_targets;  // and if the targets are met
  OtherMeasure joules, normalised_macs;
  std::vector<std::string> notices;

  double samples() const { return shares.all() * static_cast<double>(work); }
};

std::vector<OptionRow> option_rows(const DynamicPolicy& policy, const StepCost& cost,
                                   const StepMeasures& measures, double besides) {
  std::vector<OptionRow> rows;
  for (std::size_t i = 0; i < policy.options().size(); ++i) {
    std::vector<double> shares(policy.options().size(), 0.0);
    shares[i] = 1;
    const StepBits bits = policy.chosen(shares);
    const double gbitops = cost(bits);
    rows.push_back({to_text(policy.options()[i]), policy.objective().cp(i), gbitops - besides,
                    gbitops, measures.joules(bits), measures.normalised_macs(bits)});
  }
  return rows;
}

using Measure = double OptionRow::*;

// On the straight line between the cheapest option and the dearest.
double measure_at(double cp, const OptionRow& cheapest, const OptionRow& dearest, Measure measure) {
  const double range = dearest.cp - cheapest.cp;
  const double along = range > 0 ? std::clamp((cp - cheapest.cp) / range, 0.0, 1.0) : 0;
  return cheapest.*measure + along * (dearest.*measure - cheapest.*measure);
}

// Of stages that cost so much a full step.
Bounds run_at_targets(const DynamicPolicy& policy, const GatesCost& cost,
                      const std::vector<double>& stages) {
  return staged_bounds(policy.recipe(), stages, cost.length, cost.shares);
}

// Of a measure that counts a step.
OtherMeasure run_measure(const DynamicPolicy& policy, const GatesCost& cost, Measure measure,
                         double fixed) {
  const auto [cheapest, dearest] = std::ranges::minmax(cost.options, {}, &OptionRow::cp);
  std::vector<double> stages;
  for (const double target : policy.recipe().target) {
    stages.push_back(measure_at(target, cheapest, dearest, measure));
  }
  const double steps = cost.shares.all();
  return {.run = {steps * cheapest.*measure, steps * dearest.*measure},
          .at_targets = run_at_targets(policy, cost, stages),
          .fixed = steps * fixed};
}

GatesCost cost_of(const Recipe& recipe, const RecipeCostOptions& options) {
  const RunLength length = options.length.value_or(length_of(recipe, options.steps));
  GatesCost cost{.subject = options.subject.value_or(recipe_subject(recipe)),
                 .length = length,
                 .work = work_of(recipe),
                 .shares = StepShares(length.steps, options.step_work, work_of(recipe)),
                 .scheme = scheme_note(recipe.precision)};
  const StepCost sample(cost.subject.layers, options.counting, 1);
  const DynamicPolicy policy(recipe.precision, cost.subject.layers, cost.length);
  cost.besides = besides_of(policy, sample);
  const StepMeasures measures(cost.subject.layers, cost.work);
  cost.options = option_rows(policy, sample, measures, cost.besides.total());
  cost.gbitops_static = sample.reference(policy);

  const auto [cheapest, dearest] = std::ranges::minmax(cost.options, {}, &OptionRow::cp);
  cost.cp = {cheapest.cp, dearest.cp};
  std::vector<double> stages;
  for (const double target : policy.recipe().target) {
    const double gbitops = measure_at(target, cheapest, dearest, &OptionRow::gbitops);
    const bool reachable = target >= cheapest.cp && target <= dearest.cp;
    cost.targets.push_back({target, reachable, gbitops});
    stages.push_back(gbitops * static_cast<double>(cost.work));
  }
  cost.gbitops = {cost.samples() * cheapest.gbitops, cost.samples() * dearest.gbitops};
  cost.gbitops_at_targets = run_at_targets(policy, cost, stages);
  cost.joules = run_measure(policy, cost, &OptionRow::joules, measures.static_joules(policy));
  cost.normalised_macs = run_measure(policy, cost, &OptionRow::normalised_macs,
                                     measures.static_normalised_macs(policy));
  cost.notices = gate_cost_notices(policy, options.counting);
  return cost;
}

std::string options_table(const GatesCost& cost) {
  Table table({"option", "cp %", "GBitOPs in blocks", "GBitOPs a sample", "of static"});
  for (const OptionRow& row : cost.options) {
    table.add_row({row.option, fmt::format("{:.3f}", row.cp), amount_text(row.blocks),
                   amount_text(row.gbitops), share_text(row.gbitops, cost.gbitops_static)});
  }
  return table.text();
}

std::string targets_table(const GatesCost& cost) {
  Table table({"stage", "target", "can be reached", "GBitOPs a sample", "of static"});
  for (std::size_t i = 0; i < cost.targets.size(); ++i) {
    const TargetRow& row = cost.targets[i];
    table.add_row({std::to_string(i + 1), target_text(row.target), row.reachable ? "yes" : "no",
                   amount_text(row.gbitops), share_text(row.gbitops, cost.gbitops_static)});
  }
  return table.text();
}

std::string run_text(const GatesCost& cost) {
  const double reference = cost.gbitops_static * cost.samples();
  const auto range = [&](const Bounds& bounds) {
    if (bounds.least == bounds.most) {
      return fmt::format("{} GBitOPs, {} of static", amount_text(bounds.least),
                         share_text(bounds.least, reference));
    }
    return fmt::format("{} to {} GBitOPs, {} to {} of static", amount_text(bounds.least),
                       amount_text(bounds.most), share_text(bounds.least, reference),
                       share_text(bounds.most, reference));
  };
  return fmt::format(
      "the run costs {}, as the gates choose;\nat its targets, if all blocks choose alike, {}",
      range(cost.gbitops), range(cost.gbitops_at_targets));
}

std::string measure_text(const char* what, const OtherMeasure& measure, double unit) {
  const auto range = [&](const Bounds& bounds) {
    if (bounds.least == bounds.most) {
      return fmt::format("{:.4g} ({} of static)", bounds.least / unit,
                         share_text(bounds.least, measure.fixed));
    }
    return fmt::format("{:.4g} to {:.4g} ({} to {} of static)", bounds.least / unit,
                       bounds.most / unit, share_text(bounds.least, measure.fixed),
                       share_text(bounds.most, measure.fixed));
  };
  return fmt::format("{}: {}; at its targets {}\n", what, range(measure.run),
                     range(measure.at_targets));
}

// Where the rule counts float layers at fewer bits than they have.
std::string executed_text(const GatesCost& executed) {
  return fmt::format(
      "\nwith all float layers counted 32 x 32 (rule bitcycle), {} GBitOPs a sample in {}:\n{}\n",
      amount_text(executed.besides.in_float), fmt::join(executed.besides.float_layers, ", "),
      run_text(executed));
}

void print_text(const GatesCost& cost, const GatesCost& executed,
                const RecipeCostOptions& options) {
  const CostSubject& subject = cost.subject;
  fmt::print(
      "{} with gates, {}: {} parameters\nrun: {} steps of {} {}s{}{}\ncounting rule: {} ({})\n",
      subject.name, subject.shape, subject.parameters, cost.length.steps, cost.work, subject.unit,
      cost.shares.smaller_steps_note(), cost.scheme, name(options.counting),
      summary(options.counting));
  fmt::print(
      "static: {} without gates, {} GBitOPs a sample\n\n{}\n"
      "besides the blocks, in GBitOPs a sample:\n{}\n",
      to_text(kGatesReference), amount_text(cost.gbitops_static), options_table(cost),
      besides_lines(cost.besides, cost.gbitops_static));
  fmt::print("cp from {:.3f} to {:.3f} % can be reached\n\n{}\n{}\n", cost.cp.least, cost.cp.most,
             targets_table(cost), run_text(cost));
  fmt::print("{}{}", measure_text("FracTrain's normalised MACs", cost.normalised_macs, 1),
             measure_text("modelled energy in kJ (45 nm; docs/cost.md)", cost.joules, 1e3));
  if (options.counting != Counting::bitcycle) fmt::print("{}", executed_text(executed));
  for (const std::string& notice : cost.notices) fmt::print("note: {}\n", notice);
}

Json options_json(const GatesCost& cost) {
  Json rows = Json::array();
  for (const OptionRow& row : cost.options) {
    rows.push_back({{"option", row.option},
                    {"cp_percent", row.cp},
                    {"gbitops_in_blocks", row.blocks},
                    {"gbitops_per_sample", row.gbitops}});
  }
  return rows;
}

Json targets_json(const GatesCost& cost) {
  Json rows = Json::array();
  for (const TargetRow& row : cost.targets) {
    rows.push_back({{"cp_percent", row.target},
                    {"reachable", row.reachable},
                    {"gbitops_per_sample", row.gbitops}});
  }
  return rows;
}

Json to_json(const GatesCost& cost, const GatesCost& executed, const RecipeCostOptions& options) {
  const double samples = cost.samples();
  Json json = {{"recipe", options.path},
               {"model", cost.subject.name},
               {"params", cost.subject.parameters},
               {"counting", name(options.counting)},
               {"steps", cost.length.steps},
               {"batch", cost.work},
               {"options", options_json(cost)},
               {"cp_least", cost.cp.least},
               {"cp_most", cost.cp.most},
               {"targets", targets_json(cost)},
               {"gbitops_least", cost.gbitops.least},
               {"gbitops_most", cost.gbitops.most},
               {"gbitops_at_targets_least", cost.gbitops_at_targets.least},
               {"gbitops_at_targets_most", cost.gbitops_at_targets.most},
               {"static_bits", to_text(kGatesReference)},
               {"gbitops_static", cost.gbitops_static * samples},
               {"normalised_macs_least", cost.normalised_macs.run.least},
               {"normalised_macs_most", cost.normalised_macs.run.most},
               {"normalised_macs_at_targets_least", cost.normalised_macs.at_targets.least},
               {"normalised_macs_at_targets_most", cost.normalised_macs.at_targets.most},
               {"normalised_macs_static", cost.normalised_macs.fixed},
               {"modelled_joules_least", cost.joules.run.least},
               {"modelled_joules_most", cost.joules.run.most},
               {"modelled_joules_at_targets_least", cost.joules.at_targets.least},
               {"modelled_joules_at_targets_most", cost.joules.at_targets.most},
               {"modelled_joules_static", cost.joules.fixed}};
  json.update(besides_json(cost.besides, "_per_sample"));
  json.update(Json{{"executed_float_gbitops_per_sample", executed.besides.in_float},
                   {"executed_gbitops_least", executed.gbitops.least},
                   {"executed_gbitops_most", executed.gbitops.most},
                   {"executed_gbitops_static", executed.gbitops_static * samples}});
  return json;
}

}  // namespace

Bounds gates_gbitops(const Recipe& recipe) {
  return cost_of(recipe, {}).gbitops;
}

void print_gates_cost(const Recipe& recipe, const RecipeCostOptions& options) {
  RecipeCostOptions as_executed = options;
  as_executed.counting = Counting::bitcycle;
  const GatesCost cost = cost_of(recipe, options), executed = cost_of(recipe, as_executed);
  options.json ? fmt::print("{}\n", json_text(to_json(cost, executed, options), 2))
               : print_text(cost, executed, options);
}

}  // namespace bitcycle::cli
