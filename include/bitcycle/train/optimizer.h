#pragma once

// SGD, Adam and their kin (recipe key optimizer.name), with the update rules of PyTorch, fairseq
// and Google's BERT, and all of their state in named tensors, so that a resumed run goes on exactly
// where it stopped.

#include "bitcycle/config/recipe.h"
#include "bitcycle/quant/named_tensors.h"

#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

// A parameter with what its optimizer keeps of it.
struct OptimizerSlot {
  std::string name;
  at::Tensor parameter;
  double decay;       // weight decay of this parameter
  at::Tensor first;   // momentum, or Adam's mean of gradients
  at::Tensor second;  // Adam's mean of squared gradients, if the rule has it
};

class Optimizer {
 public:
  // Weight decay acts on every parameter, batch norm and biases included, as in the papers, unless
  // the recipe limits it to weights.
  Optimizer(const torch::nn::Module& model, const OptimizerRecipe& recipe);

  void zero_grad();
  // One update with learning rate `lr`, after clipping the gradients by their common norm where the
  // recipe wants that; `step` counts from 0 (Adam's bias correction). Returns the last parameter
  // that is not finite after it, if any: errors flow back from the loss, so what went wrong went
  // wrong there first.
  std::optional<std::string> step(double lr, std::int64_t step);

  // The optimizer's own tensors by name; they share memory with it, so writing restores it.
  NamedTensors state() const;

 private:
  void clip() const;

  OptimizerRecipe recipe_;
  std::vector<OptimizerSlot> slots_;
};

}  // namespace bitcycle
