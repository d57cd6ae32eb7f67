#include "cli/runs/bits_plots.h"

#include "bitcycle/base/error.h"

#include "report/view/gate_choices.h"
#include "report/view/precision_view.h"
#include "report/view/step_bits_source.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

int rounded(double bits) {
  return static_cast<int>(std::lround(bits));
}

struct BitsByRole {
  std::vector<int> weight, activation, error;  // float counted as 32

  void add(const MeanBits& bits) {
    weight.push_back(rounded(bits.weight));
    activation.push_back(rounded(bits.activation));
    error.push_back(rounded(bits.error));
  }
};

std::optional<StepBitsSource> source_of(const RunRecord& record) {
  if (!knows_bits(record)) return std::nullopt;
  try {
    return step_bits_source(record, layers_of(*record.recipe));
  } catch (const Error&) {
    return std::nullopt;  // a recipe of a network that this program does not know
  }
}

BitsByRole bits_by_role(const RunRecord& record) {
  BitsByRole bits;
  if (const auto source = source_of(record)) {
    for (const Step step : looked_at(record.steps_done())) bits.add(source->at(step).common);
    return bits;
  }
  for (const Json& line : record.steps) {
    if (tells_bits(line)) bits.add(logged_bits(line));
  }
  return bits;
}

bool vary(const std::vector<int>& bits) {
  return std::ranges::adjacent_find(bits, std::ranges::not_equal_to()) != bits.end();
}

// A skipped block counts as 0.
std::string chosen_plots(const RunRecord& record, const TextPlotOptions& options) {
  const DynamicRecipe& recipe = *record.recipe->precision.dynamic;
  std::vector<double> activations, errors, skipped;
  for (const Json& line : record.steps) {
    const auto shares = choices_in(line, recipe.options.size());
    if (!shares) continue;
    const ChosenBits chosen = chosen_bits(recipe, *shares);
    activations.push_back(chosen.bits.activation);
    errors.push_back(chosen.bits.error);
    skipped.push_back(100 * chosen.skipped);
  }
  std::string text = titled("mean bits of activations", text_plot(activations, options)) +
                     titled("mean bits of errors", text_plot(errors, options));
  if (std::ranges::any_of(recipe.options, &PrecisionOption::skips)) {
    text +=
        titled("blocks skipped, in percent, which count as 0 bits", text_plot(skipped, options));
  }
  return text;
}

std::string scheduled_plots(const BitsByRole& bits, const TextPlotOptions& options) {
  const bool apart = bits.weight != bits.activation;
  std::string text = titled(apart ? "bits of weights" : "bits of weights and activations",
                            text_plot(bits.weight, options));
  if (apart) text += titled("bits of activations", text_plot(bits.activation, options));
  if (vary(bits.error)) text += titled("bits of errors", text_plot(bits.error, options));
  return text;
}

}  // namespace

std::string titled(const std::string& title, const std::string& plot) {
  return plot.empty() ? "" : "\n" + title + "\n" + plot;
}

std::string bits_plots(const RunRecord& record, const TextPlotOptions& options) {
  const bool gated = record.recipe && record.recipe->precision.dynamic;
  const std::string chosen = gated ? chosen_plots(record, options) : "";
  return chosen.empty() ? scheduled_plots(bits_by_role(record), options) : chosen;
}

}  // namespace bitcycle::cli
