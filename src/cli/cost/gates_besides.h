#pragma once

// What a network with gates costs outside the layers that they choose for, whatever they choose:
// the gates, and the layers in float, which some rules count as if they were not.

#include "bitcycle/config/dynamic_policy.h"

#include "base/json_text.h"
#include "cli/cost/step_cost.h"

#include <string>
#include <vector>

namespace bitcycle::cli {

// In GBitOPs, of as much work as the cost is of.
struct Besides {
  double gates = 0;
  double in_float = 0;   // counted 32 x 32
  double as_static = 0;  // in float as well; the rule counts them at the bits of static
  double fixed = 0;      // at bits of their own
  std::vector<std::string> float_layers, as_static_layers;

  double total() const { return gates + in_float + as_static + fixed; }
};
Besides besides_of(const DynamicPolicy& policy, const StepCost& cost);

// A line for each part that is there, indented; shares are of `reference`.
std::string besides_lines(const Besides& besides, double reference);
// {"gates_gbitops<suffix>": ..., "float_gbitops<suffix>": ..., ...}
nlohmann::ordered_json besides_json(const Besides& besides, const std::string& suffix);

}  // namespace bitcycle::cli
