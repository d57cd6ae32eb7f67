#include "cli/stage_outlook.h"

#include "bitcycle/config/loss_indicator.h"
#include "bitcycle/config/progressive_policy.h"
#include "bitcycle/report/table.h"
#include "bitcycle/schedule/compose.h"
#include "bitcycle/schedule/summary.h"

#include "base/json_text.h"

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

double cost_of(LayerBits bits, LayerBits reference) {
  return relative_cost(constant(bits.weight), constant(bits.error), 1,
                       {reference.weight, reference.error});
}

std::string period_text(const ProgressiveRecipe& recipe) {
  return recipe.period > 0 ? fmt::format("{} steps", recipe.period) : "an epoch";
}

std::string earliest_text(const StageOutlook& stage, const ProgressiveRecipe& recipe) {
  return recipe.period > 0 ? fmt::format("step {}", stage.earliest * recipe.period)
                           : fmt::format("epoch {}", stage.earliest);
}

std::string latest_text(const StageOutlook& stage) {
  return stage.latest ? fmt::format("{:g} of the run", *stage.latest) : "never";
}

}  // namespace

std::vector<StageOutlook> stage_outlook(const ProgressiveRecipe& recipe) {
  const std::vector<LayerBits> stages = stages_of(recipe);
  const LossIndicator indicator({.epsilon = recipe.epsilon, .alpha = recipe.alpha});
  std::vector<StageOutlook> outlook;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    StageOutlook stage{.bits = stages[i],
                       .threshold = indicator.threshold_of(static_cast<int>(i)),
                       .earliest = static_cast<Step>(i) * recipe.window,
                       .relative_cost = cost_of(stages[i], stages.back())};
    if (i > 0 && !recipe.deadlines.empty()) stage.latest = recipe.deadlines[i - 1];
    outlook.push_back(stage);
  }
  return outlook;
}

std::string outlook_text(const Recipe& recipe, const std::string& title) {
  const ProgressiveRecipe& stages = *recipe.precision.progressive;
  const std::vector<StageOutlook> outlook = stage_outlook(stages);
  Table table({"stage", "bits", "ends below", "begins at the earliest", "at the latest", "cost"});
  for (std::size_t i = 0; i < outlook.size(); ++i) {
    const StageOutlook& stage = outlook[i];
    const bool first = i == 0, last = i + 1 == outlook.size();
    table.add_row({std::to_string(i + 1), to_text(stage.bits),
                   last ? "-" : fmt::format("{:.4g}", stage.threshold),
                   first ? "at once" : earliest_text(stage, stages),
                   first ? "at once" : latest_text(stage),
                   fmt::format("{:.4f}", stage.relative_cost)});
  }
  return fmt::format(
      "{}: bits that follow the loss; when they rise, only a run can tell\n\n{}\n"
      "A stage ends once the mean loss of each of the last {} periods ({} each) is within that\n"
      "threshold of the newest, in units of the mean of the first {}. Cost is that of a step,\n"
      "against static {}. `bitcycle schedule --run RUN` draws the bits that a run really had.\n",
      title, table.text(), stages.window, period_text(stages), stages.normalising,
      to_text(outlook.back().bits));
}

std::string outlook_json(const Recipe& recipe) {
  const ProgressiveRecipe& stages = *recipe.precision.progressive;
  Json list = Json::array();
  for (const StageOutlook& stage : stage_outlook(stages)) {
    list.push_back({{"weight_bits", stage.bits.weight},
                    {"activation_bits", stage.bits.activation},
                    {"error_bits", stage.bits.error},
                    {"threshold", stage.threshold},
                    {"earliest_period", stage.earliest},
                    {"latest_fraction", stage.latest ? Json(*stage.latest) : Json()},
                    {"relative_cost", stage.relative_cost}});
  }
  return json_text({{"policy", "progressive"},
                    {"period_steps", stages.period > 0 ? Json(stages.period) : Json()},
                    {"window", stages.window},
                    {"normalising", stages.normalising},
                    {"stages", std::move(list)}},
                   2) +
         "\n";
}

}  // namespace bitcycle::cli
