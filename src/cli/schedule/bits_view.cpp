#include "cli/schedule/bits_view.h"

#include "bitcycle/io/file.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/narration.h"
#include "bitcycle/report/svg_plot.h"
#include "bitcycle/report/table.h"
#include "bitcycle/report/text_plot.h"
#include "bitcycle/schedule/summary.h"

#include "base/json_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;
using Role = int LayerBits::*;

std::vector<int> of_role(const std::vector<LayerBits>& bits, Role role) {
  std::vector<int> values(bits.size());
  std::ranges::transform(bits, values.begin(), role);
  return values;
}

struct Curve {
  const char* label;
  Role role;
  LineStyle style;
};

// Weights always; activations where they differ from them; errors where they move.
std::vector<Curve> curves(const std::vector<LayerBits>& bits) {
  std::vector<Curve> shown = {{"weights and activations", &LayerBits::weight, LineStyle::step}};
  const auto apart = [](const LayerBits& b) { return b.weight != b.activation; };
  if (std::ranges::any_of(bits, apart)) {
    shown.front().label = "weights";
    shown.push_back({"activations", &LayerBits::activation, LineStyle::line});
  }
  const auto moves = [&](const LayerBits& b) { return b.error != bits.front().error; };
  if (std::ranges::any_of(bits, moves)) {
    shown.push_back({"errors", &LayerBits::error, LineStyle::dashed});
  }
  return shown;
}

std::vector<BitsUse> uses_of(const std::vector<StretchOfBits>& stretches) {
  std::vector<BitsUse> uses;
  for (const StretchOfBits& stretch : stretches) uses.push_back({stretch.bits, stretch.steps});
  return uses;
}

std::string stretch_table(const BitsView& view) {
  Table table({"bits", "first step", "steps", "share of time"});
  for (const StretchOfBits& stretch : stretches(view.bits)) {
    table.add_row(
        {to_text(stretch.bits), std::to_string(stretch.first), std::to_string(stretch.steps),
         share_text(static_cast<double>(stretch.steps), static_cast<double>(view.bits.size()))});
  }
  return table.text();
}

}  // namespace

std::vector<StretchOfBits> stretches(const std::vector<LayerBits>& bits) {
  std::vector<StretchOfBits> found;
  for (std::size_t step = 0; step < bits.size(); ++step) {
    auto stretch = std::ranges::find(found, bits[step], &StretchOfBits::bits);
    if (stretch == found.end()) {
      stretch = found.insert(found.end(), {bits[step], static_cast<Step>(step), 0});
    }
    ++stretch->steps;
  }
  return found;
}

void print_text(const BitsView& view) {
  fmt::print("{}\n", view.title);
  for (const Curve& curve : curves(view.bits)) {
    fmt::print("\n{}\n{}", curve.label,
               text_plot(of_role(view.bits, curve.role), {.charset = terminal_charset()}));
  }
  const MeanBits mean = mean_bits(uses_of(stretches(view.bits)));
  fmt::print(
      "steps 0 to {} of {}\n\n{}\nmean bits: weights {:.4g}, activations {:.4g}, errors "
      "{:.4g}\n{}",
      view.bits.size() - 1, view.total, stretch_table(view), mean.weight, mean.activation,
      mean.error, view.closing);
}

void print_csv(const BitsView& view) {
  std::string text = "t,weight_bits,activation_bits,error_bits\n";
  for (std::size_t t = 0; t < view.bits.size(); ++t) {
    const LayerBits& bits = view.bits[t];
    text += fmt::format("{},{},{},{}\n", t, bits.weight, bits.activation, bits.error);
  }
  fmt::print("{}", text);
}

void print_json(const BitsView& view) {
  const MeanBits mean = mean_bits(uses_of(stretches(view.bits)));
  Json rows = Json::array();
  for (std::size_t t = 0; t < view.bits.size(); ++t) {
    const LayerBits& bits = view.bits[t];
    rows.push_back({{"t", t},
                    {"weight_bits", bits.weight},
                    {"activation_bits", bits.activation},
                    {"error_bits", bits.error}});
  }
  fmt::print("{}\n", json_text({{"title", view.title},
                                {"steps", view.bits.size()},
                                {"total_steps", view.total},
                                {"static_bits", to_text(view.upper)},
                                {"mean_weight_bits", mean.weight},
                                {"mean_activation_bits", mean.activation},
                                {"mean_error_bits", mean.error},
                                {"rows", std::move(rows)}}));
}

void write_svg(const BitsView& view, const std::string& file) {
  SvgPlot plot{view.title, "step", "bits", {}};
  for (const Curve& curve : curves(view.bits)) {
    const std::vector<int> values = of_role(view.bits, curve.role);
    plot.series.push_back({curve.label, {values.begin(), values.end()}, curve.style});
  }
  write_file(file, to_svg(plot));
  narrate(fmt::format("wrote {}\n", file));
}

}  // namespace bitcycle::cli
