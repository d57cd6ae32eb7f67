#pragma once

// SGD, Adam and their kin (recipe key optimizer.name), with the update rules of PyTorch, fairseq
// and Google's BERT, and all of their state in named tensors, so that a resumed run goes on exactly
// where it stopped.

#include "bitcycle/config/recipe.h"
#include "bitcycle/quant/named_tensors.h"
#include "bitcycle/quant/scheme.h"

#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

class QuantLayer;

// A parameter with what its optimizer keeps of it.
struct OptimizerSlot {
  std::string name;
  at::Tensor parameter;
  double decay;       // weight decay of this parameter
  at::Tensor first;   // momentum, or Adam's mean of gradients
  at::Tensor second;  // Adam's mean of squared gradients, if the rule has it
  // Whose weight it is, or the parameter of whose norm; null: neither.
  const QuantLayer* layer = nullptr;
  ParameterUpdate::Role role = ParameterUpdate::Role::weight;
};

// When a step is made: `number` counts from 0 (Adam's bias correction).
struct OptimizerStep {
  std::int64_t number = 0;
  double progress = 0;  // from 0 to 1 over the run
};

class Optimizer {
 public:
  // Weight decay acts on every parameter, batch norm and biases included, as in the papers, unless
  // the recipe limits it to weights.
  // Quantizers of the arithmetic go with SGD; throws Error(usage) for another rule.
  Optimizer(const torch::nn::Module& model, const OptimizerRecipe& recipe,
            UpdateQuantizer quantizers = {});

  void zero_grad();
  // One update with learning rate `lr`, after clipping the gradients by their common norm where the
  // recipe wants that. Returns the last parameter that is not finite after it, if any: errors flow
  // back from the loss, so what went wrong went wrong there first.
  std::optional<std::string> step(double lr, const OptimizerStep& step);
  std::optional<std::string> step(double lr, std::int64_t number) {
    return step(lr, OptimizerStep{.number = number});
  }

  // The optimizer's own tensors by name; they share memory with it, so writing restores it.
  NamedTensors state() const;

 private:
  void clip() const;

  OptimizerRecipe recipe_;
  UpdateQuantizer quantizers_;
  std::vector<OptimizerSlot> slots_;
};

}  // namespace bitcycle
