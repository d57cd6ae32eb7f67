#include "cli/schedule/gated_bits.h"

#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/io/file.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/narration.h"
#include "bitcycle/report/svg_plot.h"
#include "bitcycle/report/table.h"
#include "bitcycle/report/text_plot.h"

#include "cli/schedule/run_bits.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <span>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

// Every step counts alike.
ChosenSteps mean_of(std::span<const ChosenSteps> all) {
  ChosenSteps mean{.first = all.front().first};
  for (const ChosenSteps& one : all) mean.steps += one.steps;
  for (const ChosenSteps& one : all) {
    const double weight = static_cast<double>(one.steps) / static_cast<double>(mean.steps);
    mean.chosen.bits.weight += weight * one.chosen.bits.weight;
    mean.chosen.bits.activation += weight * one.chosen.bits.activation;
    mean.chosen.bits.error += weight * one.chosen.bits.error;
    mean.chosen.skipped += weight * one.chosen.skipped;
    mean.cp += weight * one.cp;
  }
  return mean;
}

std::vector<ChosenSteps> chosen_steps(const Recipe& recipe, const std::vector<LoggedStep>& log) {
  const DynamicRecipe& gates = *recipe.precision.dynamic;
  const GateObjective objective(gates, block_weights(layers_of(picture_network(recipe))));
  std::vector<ChosenSteps> all;
  Step before = 0;
  for (const LoggedStep& logged : log) {
    all.push_back({before, logged.step - before, logged.choices, chosen_bits(gates, logged.choices),
                   objective.cp(logged.choices)});
    before = logged.step;
  }
  return all;
}

// A stretch belongs to the stage in which it ended.
std::vector<TargetStage> stages_of(const std::vector<double>& targets,
                                   const std::vector<StageChange>& changes,
                                   const std::vector<ChosenSteps>& logged) {
  const Step done = logged.back().first + logged.back().steps;
  std::vector<Step> begins = {0};
  for (const StageChange& change : changes) {
    if (change.step < done && begins.size() < targets.size()) begins.push_back(change.step);
  }
  begins.push_back(done);
  std::vector<TargetStage> stages;
  auto from = logged.begin();
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    const auto to = std::find_if(from, logged.end(), [&](const ChosenSteps& one) {
      return one.first + one.steps > begins[i + 1];
    });
    stages.push_back({targets[i], begins[i], begins[i + 1] - begins[i], {}});
    if (from != to) stages.back().mean = mean_of({from, to});
    from = to;
  }
  return stages;
}

struct Curve {
  const char* label;
  std::function<double(const ChosenSteps&)> value;
  LineStyle style;
};

std::vector<Curve> bit_curves() {
  return {
      {"activations", [](const auto& one) { return one.chosen.bits.activation; }, LineStyle::step},
      {"errors", [](const auto& one) { return one.chosen.bits.error; }, LineStyle::dashed}};
}

std::vector<double> of_each_step(const GatedBits& view, const Curve& curve) {
  std::vector<double> values;
  for (const ChosenSteps& one : view.logged) {
    values.resize(values.size() + static_cast<std::size_t>(one.steps), curve.value(one));
  }
  return values;
}

std::string title_of(const GatedBits& view) {
  return view.run + ": the bits that it had, means over blocks and samples" +
         (view.can_skip ? "; a skipped block counts as 0" : "");
}

Json bits_json(const ChosenSteps& one) {
  return {{"weight_bits", one.chosen.bits.weight},
          {"activation_bits", one.chosen.bits.activation},
          {"error_bits", one.chosen.bits.error},
          {"skipped", one.chosen.skipped}};
}

}  // namespace

ChosenSteps GatedBits::mean() const {
  return mean_of(logged);
}

std::optional<GatedBits> gated_bits(const std::filesystem::path& run, const Recipe& recipe,
                                    const std::vector<LoggedStep>& log, Step total) {
  const DynamicRecipe& gates = *recipe.precision.dynamic;
  const std::size_t blocks = block_weights(layers_of(picture_network(recipe))).blocks.size();
  const bool known = std::ranges::all_of(log, [&](const LoggedStep& logged) {
    return logged.choices.size() == blocks && fits(logged.choices, gates);
  });
  if (!known) return std::nullopt;
  constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
  GatedBits view{.run = run.string(), .total = total, .last = log.back()};
  view.logged = chosen_steps(recipe, log);
  view.stages = stages_of(gates.target, logged_stages(run, kAll), view.logged);
  view.can_skip = std::ranges::any_of(gates.options, &PrecisionOption::skips);
  return view;
}

std::string stage_table(const GatedBits& view) {
  Table table({"target", "first step", "steps", "activations", "errors", "skipped", "cp %"});
  for (const TargetStage& stage : view.stages) {
    std::vector<std::string> cells = {target_text(stage.target), std::to_string(stage.first),
                                      std::to_string(stage.steps)};
    const auto& mean = stage.mean;
    const auto cell = [&](double value) { return mean ? fmt::format("{:.3f}", value) : "-"; };
    const ChosenSteps shown = mean.value_or(ChosenSteps());
    cells.push_back(cell(shown.chosen.bits.activation));
    cells.push_back(cell(shown.chosen.bits.error));
    cells.push_back(mean ? percent_text(100 * shown.chosen.skipped) : "-");
    cells.push_back(cell(shown.cp));
    table.add_row(cells);
  }
  return table.text();
}

Json stages_json(const GatedBits& view) {
  Json list = Json::array();
  for (const TargetStage& stage : view.stages) {
    Json entry = {{"cp_percent", stage.target}, {"first", stage.first}, {"steps", stage.steps}};
    if (stage.mean) {
      entry.update(bits_json(*stage.mean));
      entry["chosen_cp_percent"] = stage.mean->cp;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

void print_text(const GatedBits& view) {
  fmt::print("{}\n", title_of(view));
  std::vector<Curve> curves = bit_curves();
  if (view.can_skip) {
    curves.push_back({"blocks skipped, in percent",
                      [](const ChosenSteps& one) { return 100 * one.chosen.skipped; },
                      LineStyle::line});
  }
  for (const Curve& curve : curves) {
    const TextPlotOptions options{.max_rows = 6, .charset = terminal_charset()};
    fmt::print("\n{}\n{}", curve.label, text_plot(of_each_step(view, curve), options));
  }
  const ChosenSteps mean = view.mean();
  fmt::print(
      "steps 0 to {} of {}\n\n{}\nmean bits: weights {:.4g}, activations {:.4g}, errors {:.4g}{}\n",
      view.last.step - 1, view.total, stage_table(view), mean.chosen.bits.weight,
      mean.chosen.bits.activation, mean.chosen.bits.error,
      view.can_skip ? fmt::format("; {} skipped", percent_text(100 * mean.chosen.skipped)) : "");
  fmt::print("{}", spent_text(view.last, kGatesReference));
}

void print_csv(const GatedBits& view) {
  std::string text = "t,weight_bits,activation_bits,error_bits,skipped\n";
  for (const ChosenSteps& one : view.logged) {
    const auto& [bits, skipped] = one.chosen;
    for (Step t = one.first; t < one.first + one.steps; ++t) {
      text += fmt::format("{},{},{},{},{}\n", t, bits.weight, bits.activation, bits.error, skipped);
    }
  }
  fmt::print("{}", text);
}

void print_json(const GatedBits& view) {
  Json rows = Json::array();
  for (const ChosenSteps& one : view.logged) {
    for (Step t = one.first; t < one.first + one.steps; ++t) {
      rows.push_back({{"t", t}});
      rows.back().update(bits_json(one));
    }
  }
  const ChosenSteps mean = view.mean();
  fmt::print("{}\n", json_text({{"title", title_of(view)},
                                {"steps", view.last.step},
                                {"total_steps", view.total},
                                {"static_bits", to_text(kGatesReference)},
                                {"mean_weight_bits", mean.chosen.bits.weight},
                                {"mean_activation_bits", mean.chosen.bits.activation},
                                {"mean_error_bits", mean.chosen.bits.error},
                                {"mean_skipped", mean.chosen.skipped},
                                {"stages", stages_json(view)},
                                {"rows", std::move(rows)}}));
}

void write_svg(const GatedBits& view, const std::string& file) {
  SvgPlot plot{title_of(view), "step", "bits", {}};
  for (const Curve& curve : bit_curves()) {
    plot.series.push_back({curve.label, of_each_step(view, curve), curve.style});
  }
  write_file(file, to_svg(plot));
  narrate(fmt::format("wrote {}\n", file));
}

}  // namespace bitcycle::cli
