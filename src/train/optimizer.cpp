#include "bitcycle/train/optimizer.h"

#include "bitcycle/base/error.h"

#include "quant/finite_tensor.h"
#include "train/gradient_norm.h"
#include "train/quantized_update.h"
#include "train/update_rules.h"

namespace bitcycle {
namespace {

// Biases and the parameters of norms are vectors; what multiplies is a matrix or a kernel.
bool decays(const at::Tensor& parameter, OptimizerRecipe::Decay decay) {
  return decay == OptimizerRecipe::Decay::all || parameter.dim() >= 2;
}

}  // namespace

Optimizer::Optimizer(const torch::nn::Module& model, const OptimizerRecipe& recipe,
                     UpdateQuantizer quantizers)
    : recipe_(recipe), quantizers_(std::move(quantizers)) {
  if (!quantizers_.empty() && recipe.name != OptimizerRecipe::Name::sgd) {
    throw Error(ErrorCode::usage,
                "the scheme quantizes the arithmetic of SGD: expected the optimizer sgd");
  }
  const bool has_second = update_rule(recipe.name).second != nullptr;
  for (const auto& item : model.named_parameters()) {
    const at::Tensor& parameter = item.value();
    slots_.push_back({.name = item.key(),
                      .parameter = parameter,
                      .decay = decays(parameter, recipe.decay) ? recipe.weight_decay : 0.0,
                      .first = at::zeros_like(parameter),
                      .second = has_second ? at::zeros_like(parameter) : at::Tensor()});
  }
  if (!quantizers_.empty()) find_owners(model, slots_);
}

void Optimizer::zero_grad() {
  for (OptimizerSlot& slot : slots_) slot.parameter.mutable_grad().reset();
}

std::optional<std::string> Optimizer::step(double lr, const OptimizerStep& step) {
  const torch::NoGradGuard no_grad;
  if (recipe_.clip_norm > 0) clip();
  const UpdateRule& rule = update_rule(recipe_.name);
  const double rate = quantizers_.rate ? quantizers_.rate(lr) : lr;
  const UpdateStep update{recipe_, rate, static_cast<double>(step.number + 1)};
  std::optional<std::string> damaged;
  for (OptimizerSlot& slot : slots_) {
    if (!slot.parameter.grad().defined()) continue;
    if (is_quantized(slot)) {
      quantized_sgd(slot, update, quantizers_, step.progress);
    } else {
      rule.apply(slot, update);
    }
    // A mean of squares that overflows would stop a parameter from ever moving again.
    const bool finite =
        finite_tensor(slot.parameter) && (!slot.second.defined() || finite_tensor(slot.second));
    if (!finite) damaged = slot.name;
  }
  return damaged;
}

void Optimizer::clip() const {
  std::vector<at::Tensor> gradients;
  for (const OptimizerSlot& slot : slots_) {
    if (slot.parameter.grad().defined()) gradients.push_back(slot.parameter.grad());
  }
  clip_gradients(gradients, recipe_.clip_norm);
}

NamedTensors Optimizer::state() const {
  const UpdateRule& rule = update_rule(recipe_.name);
  NamedTensors state;
  for (const OptimizerSlot& slot : slots_) {
    state.emplace(slot.name + "." + rule.first, slot.first);
    if (slot.second.defined()) state.emplace(slot.name + "." + rule.second, slot.second);
  }
  return state;
}

}  // namespace bitcycle
