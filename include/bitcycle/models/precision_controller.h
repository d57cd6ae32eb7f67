#pragma once

// Tells the layers of a model their precision, step by step, according to a plan. Works on the
// zoo's networks and on any model that contains quantized layers:
//
//   PrecisionPlan plan(recipe.precision, planned_layers(*model), {steps, steps_per_epoch});
//   PrecisionController controller(*model, plan, seed);
//   for (Step step = 0; step < steps; ++step) {
//     controller.apply(step);
//     ...                           // forward, backward, optimizer as always
//   }

#include "bitcycle/config/precision_plan.h"
#include "bitcycle/nn/quant_layer.h"

#include <vector>

namespace bitcycle {

// The quantized layers of a model, in the order of their registration.
std::vector<PlannedLayer> planned_layers(const torch::nn::Module& model);

class PrecisionController {
 public:
  // The model must outlive the controller and contain every layer of the plan by name.
  PrecisionController(torch::nn::Module& model, PrecisionPlan plan, std::uint64_t seed);

  // Sets the bits of a training step and the keys of its stochastic rounding.
  void apply(Step step);
  // Sets the bits to evaluate at, after `step`.
  void apply(const EvaluationBits& bits, Step step);

  void set_range_start(RangeStart start);

  const PrecisionPlan& plan() const { return plan_; }

 private:
  struct Target {
    QuantLayer* layer;
    RandomKey key;
  };
  void set(const std::vector<LayerBits>& bits, Step step);

  PrecisionPlan plan_;
  std::vector<Target> targets_;
};

}  // namespace bitcycle
