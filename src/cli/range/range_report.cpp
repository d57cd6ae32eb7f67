#include "cli/range/range_report.h"

#include "bitcycle/config/range_policy.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/range/share_plot.h"

#include <cmath>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;
using Goal = RangeTest::Goal;
using Judgement = RangeTest::Judgement;

constexpr double kMuch = 0.05;

struct Measure {
  double value = 0, error = 0;
};

// In the metric that was observed: accuracy in percent, or the loss.
Measure measured(const RangeOutcome& outcome, const EstimatedMean& mean) {
  const double unit = outcome.kind == Learned::Kind::accuracy ? 100 : 1;
  const auto metric = [&](double learned) { return outcome.learned.metric(outcome.kind, learned); };
  return {unit * metric(mean.value), unit * std::abs(metric(mean.error) - metric(0))};
}

std::string measure_text(const RangeOutcome& outcome, const EstimatedMean& mean) {
  const Measure measure = measured(outcome, mean);
  return outcome.kind == Learned::Kind::accuracy
             ? fmt::format("{:.2f} ± {:.2f} %", measure.value, measure.error)
             : fmt::format("{:.4f} ± {:.4f}", measure.value, measure.error);
}

const char* name(Learned::Kind kind) {
  return kind == Learned::Kind::accuracy ? "accuracy" : "loss";
}

const char* name(Judgement judgement) {
  switch (judgement) {
    case Judgement::good:
      return "enough";
    case Judgement::bad:
      return "too little";
    default:
      return "undecided";
  }
}

std::vector<RangeTest::Result> results_for(const RangeTest& test, Goal goal) {
  std::vector<RangeTest::Result> results = test.results();
  std::erase_if(results, [goal](const RangeTest::Result& result) { return result.goal != goal; });
  return results;
}

// The table and the plot of one bound.
std::string bound_text(const RangeOutcome& outcome, Goal goal, double threshold, Charset charset) {
  const auto results = results_for(outcome.test, goal);
  if (results.empty()) return "";
  Table table({"bits", name(outcome.kind), fmt::format("at {} bits", outcome.test.options().to),
               "share kept", "pairs", "verdict", "sure"});
  for (const RangeTest::Result& result : results) {
    const auto& [pairs, share, low, high] = result.found;
    table.add_row({std::to_string(result.bits), measure_text(outcome, low),
                   measure_text(outcome, high),
                   fmt::format("{:.3f} ± {:.3f}", share.value, share.error), std::to_string(pairs),
                   name(result.judgement), fmt::format("{:.1f} %", 100 * result.sure)});
  }
  return fmt::format("{} bound: the lowest width that keeps more than {:g}\n{}\n{}\n",
                     goal == Goal::lower ? "lower" : "upper", threshold, table.text(),
                     share_plot(results, threshold, charset));
}

std::string verdict_text(const RangeOutcome& outcome) {
  const RangeTest& test = outcome.test;
  const std::string bounds = fmt::format("verdict: from {} to {} bits", test.lower(), test.upper());
  if (test.decided()) return bounds + "\n";
  const std::string why = end_text(test);
  return fmt::format("{}, undecided{}: the safer bounds are taken\n", bounds,
                     why.empty() ? "" : " (" + why + ")");
}

double share_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::string cost_text(const RangeOutcome& outcome) {
  return fmt::format(
      "cost: {} steps, {} GBitOPs: {:.2f} % of the {} steps that the recipe trains between these "
      "bounds,\n{:.2f} % of {} steps\n",
      outcome.test.steps(), amount_text(outcome.gbitops),
      100 * share_of(outcome.gbitops, outcome.run_gbitops), outcome.recipe.steps,
      100 * share_of(outcome.gbitops, outcome.paper_gbitops), kPaperSteps);
}

Json to_json(const RangeOutcome& outcome, const RangeTest::Result& result) {
  const auto& [pairs, share, low, high] = result.found;
  const Measure at_low = measured(outcome, low), at_high = measured(outcome, high);
  return {{"bound", result.goal == Goal::lower ? "lower" : "upper"},
          {"bits", result.bits},
          {name(outcome.kind), at_low.value},
          {"standard_error", at_low.error},
          {std::string("upper_") + name(outcome.kind), at_high.value},
          {"upper_standard_error", at_high.error},
          {"share", share.value},
          {"share_standard_error", share.error},
          {"pairs", pairs},
          {"verdict", name(result.judgement)},
          {"sure", result.sure}};
}

}  // namespace

std::string to_text(const RangeOutcome& outcome, Charset charset) {
  const RangeTestOptions& options = outcome.test.options();
  std::string text = fmt::format("{} on {}, seed {}, backend {}: from {} bits, against {}\n\n",
                                 outcome.recipe.model.name, outcome.recipe.data.dataset,
                                 outcome.recipe.seed, outcome.backend, options.from, options.to);
  text += bound_text(outcome, Goal::lower, options.threshold, charset);
  if (options.upper) text += bound_text(outcome, Goal::upper, *options.upper, charset);
  return text + verdict_text(outcome) + cost_text(outcome);
}

std::string to_json(const RangeOutcome& outcome) {
  const RangeTest& test = outcome.test;
  const RangeTestOptions& options = test.options();
  Json widths = Json::array();
  for (const RangeTest::Result& result : test.results()) widths.push_back(to_json(outcome, result));
  return json_text(Json{{"model", outcome.recipe.model.name},
                        {"dataset", outcome.recipe.data.dataset},
                        {"seed", outcome.recipe.seed},
                        {"backend", outcome.backend},
                        {"from", options.from},
                        {"to", options.to},
                        {"threshold", options.threshold},
                        {"upper_threshold", options.upper ? Json(*options.upper) : Json()},
                        {"confidence", options.confidence},
                        {"block_steps", options.block},
                        {"widths", std::move(widths)},
                        {"lower_bits", test.lower()},
                        {"upper_bits", test.upper()},
                        {"verdict", test.decided() ? "decided" : "undecided"},
                        {"reason", end_text(test)},
                        {"steps", test.steps()},
                        {"gbitops", outcome.gbitops},
                        {"run_steps", outcome.recipe.steps},
                        {"percent_of_run", 100 * share_of(outcome.gbitops, outcome.run_gbitops)},
                        {"percent_of_64000_steps",
                         100 * share_of(outcome.gbitops, outcome.paper_gbitops)}},
                   2) +
         "\n";
}

std::string cost_warning(const RangeOutcome& outcome) {
  const double share = share_of(outcome.gbitops, outcome.run_gbitops);
  if (share < kMuch) return "";
  return fmt::format(
      "the test costs {:.1f} % of a run of {} steps, where less than {:.0f} % is meant",
      100 * share, outcome.recipe.steps, 100 * kMuch);
}

}  // namespace bitcycle::cli
