#pragma once

// What a whole run costs. A cost depends on the bits alone, so a run is first reduced to the number
// of steps it spends at each combination of them.

#include "bitcycle/cost/cost_model.h"
#include "bitcycle/schedule/schedule.h"

#include <cstdint>
#include <span>
#include <vector>

namespace bitcycle {

struct BitsUse {
  LayerBits bits;
  std::int64_t steps = 0;
};

// In the order in which the combinations first occur.
std::vector<BitsUse> bits_used(const Schedule& forward, const Schedule& backward, Step steps);

// Means over the steps, float counted as 32 bits.
struct MeanBits {
  double weight = 0;
  double activation = 0;
  double error = 0;
};
MeanBits mean_bits(std::span<const BitsUse> uses);

struct RunCost {
  std::vector<PassCost> layers;  // in the model's order
  PassCost total;
};
RunCost run_cost(const CostModel& model, std::span<const BitsUse> uses, std::int64_t batch);

// How much less `cost` is than `reference`, in percent.
constexpr double saving_percent(double cost, double reference) {
  return 100 * (1 - cost / reference);
}

}  // namespace bitcycle
