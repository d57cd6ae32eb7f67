#pragma once

// Tells the layers of a model their precision, step by step, as a policy decides it. Works on the
// zoo's networks and on any model that contains quantized layers:
//
//   PrecisionPlan plan(recipe.precision, layers_of(*model), {steps, steps_per_epoch});
//   PrecisionController controller(*model, plan.layers(), seed);
//   for (Step step = 0; step < steps; ++step) {
//     controller.apply(plan.decide(step), step);
//     ...                           // forward, backward, optimizer as always
//   }

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/kernels/range.h"
#include "bitcycle/nn/quant_layer.h"

#include <vector>

namespace bitcycle {

// The quantized layers of a model, in the order of their registration. A fully connected layer has
// its multiply-accumulates per row of its input; those of a convolution depend on the size of
// pictures, and who counts costs fills them in.
std::vector<LayerInfo> layers_of(const torch::nn::Module& model);

class PrecisionController {
 public:
  // The model must outlive the controller. Layers that it does not have as quantized layers are
  // those that it keeps in float; any other is a mistake.
  PrecisionController(torch::nn::Module& model, const std::vector<LayerInfo>& layers,
                      std::uint64_t seed);

  // Sets the bits of a step and the keys of its stochastic rounding; an entry per layer.
  void apply(const StepBits& bits, Step step);

  // The bits of a step as they came to be: gates in the model may have chosen others than were
  // decided (QuantLayer::choose).
  StepBits executed(StepBits decided) const;

  void set_range_start(RangeStart start);

  // From here to the end of the look, layers add up what quantizing does to their tensors. Layers
  // that are told no bits, or have none, are left out of what was seen.
  void begin_look();
  std::vector<LayerStatistics> end_look();

 private:
  struct Target {
    std::string name;
    QuantLayer* layer;  // null where the model keeps a layer in float by other means
    RandomKey key;
  };
  std::vector<Target> targets_;
};

}  // namespace bitcycle
