#include "bitcycle/train/optimizer.h"

#include "quant/finite_tensor.h"

#include <cmath>

namespace bitcycle {

Optimizer::Optimizer(const torch::nn::Module& model, const OptimizerRecipe& recipe)
    : recipe_(recipe) {
  for (const auto& item : model.named_parameters()) {
    Slot slot{item.key(), item.value(), at::zeros_like(item.value()), {}};
    if (recipe.name == OptimizerRecipe::Name::adam) slot.second = at::zeros_like(item.value());
    slots_.push_back(std::move(slot));
  }
}

void Optimizer::zero_grad() {
  for (Slot& slot : slots_) slot.parameter.mutable_grad().reset();
}

std::optional<std::string> Optimizer::step(double lr, std::int64_t step) {
  const torch::NoGradGuard no_grad;
  std::optional<std::string> damaged;
  for (Slot& slot : slots_) {
    if (!slot.parameter.grad().defined()) continue;
    recipe_.name == OptimizerRecipe::Name::sgd ? sgd(slot, lr) : adam(slot, lr, step);
    // A mean of squares that overflows would stop a parameter from ever moving again.
    const bool finite =
        finite_tensor(slot.parameter) && (!slot.second.defined() || finite_tensor(slot.second));
    if (!finite) damaged = slot.name;
  }
  return damaged;
}

// g += decay p;  v = momentum v + g;  p -= lr v
void Optimizer::sgd(Slot& slot, double lr) const {
  at::Tensor gradient = slot.parameter.grad();
  gradient.add_(slot.parameter, recipe_.weight_decay);
  slot.first.mul_(recipe_.momentum).add_(gradient);
  slot.parameter.add_(slot.first, -lr);
}

// m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2;  p -= lr m^ / (sqrt(v^) + eps)
void Optimizer::adam(Slot& slot, double lr, std::int64_t step) const {
  at::Tensor gradient = slot.parameter.grad();
  gradient.add_(slot.parameter, recipe_.weight_decay);
  slot.first.mul_(recipe_.beta1).add_(gradient, 1.0 - recipe_.beta1);
  slot.second.mul_(recipe_.beta2).addcmul_(gradient, gradient, 1.0 - recipe_.beta2);
  const auto t = static_cast<double>(step + 1);
  const double first_correction = 1.0 - std::pow(recipe_.beta1, t);
  const double second_correction = 1.0 - std::pow(recipe_.beta2, t);
  const at::Tensor root = (slot.second / second_correction).sqrt_().add_(recipe_.epsilon);
  slot.parameter.addcdiv_(slot.first, root, -lr / first_correction);
}

NamedTensors Optimizer::state() const {
  const bool is_sgd = recipe_.name == OptimizerRecipe::Name::sgd;
  NamedTensors state;
  for (const Slot& slot : slots_) {
    state.emplace(slot.name + (is_sgd ? ".momentum" : ".first"), slot.first);
    if (slot.second.defined()) state.emplace(slot.name + ".second", slot.second);
  }
  return state;
}

}  // namespace bitcycle
