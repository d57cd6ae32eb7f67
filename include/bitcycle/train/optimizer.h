#pragma once

// SGD with momentum and Adam, with PyTorch's update rules, and all of their state in named tensors,
// so that a resumed run goes on exactly where it stopped.

#include "bitcycle/config/recipe.h"
#include "bitcycle/quant/named_tensors.h"

#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

class Optimizer {
 public:
  // Weight decay acts on every parameter, batch norm and biases included, as in the papers.
  Optimizer(const torch::nn::Module& model, const OptimizerRecipe& recipe);

  void zero_grad();
  // One update with learning rate `lr`; `step` counts from 0 (Adam's bias correction). Returns the
  // last parameter that is not finite after it, if any: errors flow back from the loss, so what
  // went wrong went wrong there first.
  std::optional<std::string> step(double lr, std::int64_t step);

  // The optimizer's own tensors by name; they share memory with it, so writing restores it.
  NamedTensors state() const;

 private:
  struct Slot {
    std::string name;
    at::Tensor parameter;
    at::Tensor first;   // momentum, or Adam's mean of gradients
    at::Tensor second;  // Adam's mean of squared gradients
  };
  void sgd(Slot& slot, double lr) const;
  void adam(Slot& slot, double lr, std::int64_t step) const;

  OptimizerRecipe recipe_;
  std::vector<Slot> slots_;
};

}  // namespace bitcycle
