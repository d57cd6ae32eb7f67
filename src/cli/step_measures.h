#pragma once

// What a step costs by other measures than bit operations.

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/cost/energy.h"

#include <cstdint>
#include <vector>

namespace bitcycle::cli {

class StepMeasures {
 public:
  StepMeasures(const std::vector<LayerInfo>& layers, std::int64_t work)
      : macs_(layers, Counting::macs), energy_(layers), work_(work) {}

  // Modelled, of the layers as they are executed.
  double joules(const StepBits& bits) const { return energy_.step(bits.layers, work_).total(); }
  // FracTrain's: every layer at the scheduled bits.
  double normalised_macs(const StepBits& bits) const {
    const double bitops = macs_.sample_cost(bits.counted).total();
    return bitcycle::normalised_macs(bitops) * static_cast<double>(work_);
  }

 private:
  CostModel macs_;
  EnergyModel energy_;
  std::int64_t work_;
};

}  // namespace bitcycle::cli
