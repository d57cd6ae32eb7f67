#include "bitcycle/train/cost_meter.h"

namespace bitcycle {

CostMeter::CostMeter(const Network& network, PrecisionPlan plan)
    : model_(network, Counting::paper),
      plan_(std::move(plan)),
      static_sample_bitops_(counted(plan_.evaluation({}, 0), plan_.common_max())) {}

double CostMeter::sample_bitops(Step step) const {
  return counted(plan_.at(step), plan_.common(step));
}

double CostMeter::counted(std::vector<LayerBits> bits, LayerBits common) const {
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const bool kept_in_float = plan_.layers()[i].precision == LayerPrecision::full;
    if (kept_in_float && !plan_.overridden(i)) bits[i] = common;
  }
  return model_.sample_cost(bits).total();
}

}  // namespace bitcycle
