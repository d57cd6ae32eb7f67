#pragma once

// What a step costs by other measures than bit operations.

#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/precision_policy.h"
#include "bitcycle/cost/energy.h"

#include <cstdint>
#include <vector>

namespace bitcycle::cli {

class StepMeasures {
 public:
  StepMeasures(const std::vector<LayerInfo>& layers, std::int64_t work)
      : layers_(layers), macs_(layers, Counting::macs), energy_(layers), work_(work) {}

  // Modelled, of the layers as they are executed.
  double joules(const StepBits& bits) const {
    return energy_.step(bits.layers, bits.mixtures, work_).total();
  }
  // FracTrain's: every layer at the scheduled bits.
  double normalised_macs(const StepBits& bits) const {
    return normalised(macs_.sample_cost(bits.counted, bits.mixtures).total());
  }

  // Both of what savings are measured against, which has no gates.
  double static_joules(const PrecisionPolicy& policy) const {
    const StepBits bits = policy.reference();
    std::vector<LayerInfo> layers;
    std::vector<LayerBits> own;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (matches(layers_[i], "@gate")) continue;
      layers.push_back(layers_[i]);
      own.push_back(bits.layers[i]);
    }
    return EnergyModel(layers).step(own, work_).total();
  }
  double static_normalised_macs(const PrecisionPolicy& policy) const {
    return normalised_macs(policy.reference()) - normalised(macs_.gates_cost().total());
  }

 private:
  double normalised(double bitops) const {
    return bitcycle::normalised_macs(bitops) * static_cast<double>(work_);
  }

  std::vector<LayerInfo> layers_;
  CostModel macs_;
  EnergyModel energy_;
  std::int64_t work_;
};

}  // namespace bitcycle::cli
