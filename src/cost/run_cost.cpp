#include "bitcycle/cost/run_cost.h"

#include "bitcycle/schedule/summary.h"

#include <algorithm>

namespace bitcycle {

std::vector<BitsUse> bits_used(const Schedule& forward, const Schedule& backward, Step steps) {
  std::vector<BitsUse> uses;
  for (Step step = 0; step < steps; ++step) {
    const LayerBits bits = layer_bits(forward.bits(step), backward.bits(step));
    auto use = std::find_if(uses.begin(), uses.end(),
                            [&](const BitsUse& candidate) { return candidate.bits == bits; });
    if (use == uses.end()) use = uses.insert(use, {bits, 0});
    ++use->steps;
  }
  return uses;
}

MeanBits mean_bits(std::span<const BitsUse> uses) {
  MeanBits sum;
  double steps = 0;
  for (const BitsUse& use : uses) {
    const double weight = static_cast<double>(use.steps);
    sum.weight += weight * counted_bits(use.bits.weight);
    sum.activation += weight * counted_bits(use.bits.activation);
    sum.error += weight * counted_bits(use.bits.error);
    steps += weight;
  }
  if (steps == 0) return {};
  return {sum.weight / steps, sum.activation / steps, sum.error / steps};
}

RunCost run_cost(const CostModel& model, std::span<const BitsUse> uses, std::int64_t batch) {
  RunCost cost;
  cost.layers.resize(model.layers().size());
  for (const BitsUse& use : uses) {
    const std::vector<LayerBits> bits = model.resolve(use.bits);
    const double samples = static_cast<double>(use.steps) * static_cast<double>(batch);
    for (std::size_t i = 0; i < bits.size(); ++i) {
      cost.layers[i] += model.layer_cost(i, bits[i]) * samples;
    }
  }
  for (const PassCost& layer : cost.layers) cost.total += layer;
  return cost;
}

}  // namespace bitcycle
