#include "cli/cost/gates_besides.h"

#include "bitcycle/report/format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitcycle::cli {

Besides besides_of(const DynamicPolicy& policy, const StepCost& cost) {
  Besides besides;
  const StepBits bits = policy.decide(0);
  for (std::size_t i = 0; i < policy.layers().size(); ++i) {
    const LayerInfo& layer = policy.layers()[i];
    if (layer.block >= 0) continue;
    const double gbitops = cost.layer(bits, i);
    if (matches(layer, "@gate")) {
      besides.gates += gbitops;
    } else if (cost.counted(bits)[i] == LayerBits{}) {
      besides.in_float += gbitops;
      besides.float_layers.push_back(layer.name);
    } else if (bits.layers[i] == LayerBits{}) {
      besides.as_static += gbitops;
      besides.as_static_layers.push_back(layer.name);
    } else {
      besides.fixed += gbitops;
    }
  }
  return besides;
}

std::string besides_lines(const Besides& besides, double reference) {
  const auto line = [&](const std::string& what, double gbitops,
                        const std::vector<std::string>& layers = {}) {
    return fmt::format("  {} {} ({} of static){}{}\n", what, amount_text(gbitops),
                       share_text(gbitops, reference), layers.empty() ? "" : ": ",
                       fmt::join(layers, ", "));
  };
  std::string text = line("gates", besides.gates);
  if (!besides.float_layers.empty()) {
    text += line("float layers, counted 32 x 32,", besides.in_float, besides.float_layers);
  }
  if (!besides.as_static_layers.empty()) {
    text += line("float layers, which the rule counts at " + to_text(kGatesReference) + ",",
                 besides.as_static, besides.as_static_layers);
  }
  if (besides.fixed > 0) text += line("layers at fixed bits", besides.fixed);
  return text;
}

nlohmann::ordered_json besides_json(const Besides& besides, const std::string& suffix) {
  return {{"gates_gbitops" + suffix, besides.gates},
          {"float_gbitops" + suffix, besides.in_float},
          {"float_layers", besides.float_layers},
          {"float_as_static_gbitops" + suffix, besides.as_static},
          {"float_as_static_layers", besides.as_static_layers},
          {"fixed_gbitops" + suffix, besides.fixed}};
}

}  // namespace bitcycle::cli
