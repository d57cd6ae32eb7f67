// The update rules. p parameter, g gradient, d weight decay, v momentum u's buffer, m and s Adam's
// running means of g and g^2, t the count of updates.

#include "train/update_rules.h"

#include <cmath>

namespace bitcycle {

void add_l2_penalty(OptimizerSlot& slot) {
  slot.parameter.mutable_grad().add_(slot.parameter, slot.decay);
}

void update_momentum(OptimizerSlot& slot, double momentum) {
  slot.first.mul_(momentum).add_(slot.parameter.grad());
}

namespace {

// p *= 1 - lr d
void decay_parameter(OptimizerSlot& slot, double lr) {
  slot.parameter.mul_(1.0 - lr * slot.decay);
}

// m = b1 m + (1 - b1) g;  s = b2 s + (1 - b2) g^2
void update_means(OptimizerSlot& slot, const OptimizerRecipe& recipe) {
  const at::Tensor gradient = slot.parameter.grad();
  slot.first.mul_(recipe.beta1).add_(gradient, 1.0 - recipe.beta1);
  slot.second.mul_(recipe.beta2).addcmul_(gradient, gradient, 1.0 - recipe.beta2);
}

// What a running mean that began at zero lacks after t updates: 1 - beta^t
double bias_correction(double beta, const UpdateStep& step) {
  return 1.0 - std::pow(beta, step.count);
}

// p -= lr v
void sgd(OptimizerSlot& slot, const UpdateStep& step) {
  add_l2_penalty(slot);
  update_momentum(slot, step.recipe.momentum);
  slot.parameter.add_(slot.first, -step.lr);
}

// p -= lr (g + u v)
void look_ahead(OptimizerSlot& slot, const UpdateStep& step) {
  update_momentum(slot, step.recipe.momentum);
  slot.parameter.add_(slot.parameter.grad(), -step.lr);
  slot.parameter.add_(slot.first, -step.lr * step.recipe.momentum);
}

void nesterov(OptimizerSlot& slot, const UpdateStep& step) {
  add_l2_penalty(slot);
  look_ahead(slot, step);
}

// fairseq keeps b = -lr v, and rescales it by the ratio of two rates when the rate changes. With v
// in its place no rate of the past is needed; but a rate of 0 leaves b = 0, which forgets v.
void fairseq_nag(OptimizerSlot& slot, const UpdateStep& step) {
  decay_parameter(slot, step.lr);
  look_ahead(slot, step);
  if (step.lr == 0) slot.first.zero_();
}

// p -= lr (m / c1) / (sqrt(s / c2) + eps)
void move_by_means(OptimizerSlot& slot, const UpdateStep& step) {
  const OptimizerRecipe& recipe = step.recipe;
  update_means(slot, recipe);
  const double first = bias_correction(recipe.beta1, step),
               second = bias_correction(recipe.beta2, step);
  const at::Tensor root = (slot.second / second).sqrt_().add_(recipe.epsilon);
  slot.parameter.addcdiv_(slot.first, root, -step.lr / first);
}

void adam(OptimizerSlot& slot, const UpdateStep& step) {
  add_l2_penalty(slot);
  move_by_means(slot, step);
}

void adamw(OptimizerSlot& slot, const UpdateStep& step) {
  decay_parameter(slot, step.lr);
  move_by_means(slot, step);
}

// p -= lr sqrt(c2) / c1 m / (sqrt(s) + eps): epsilon is not divided by sqrt(c2)
void fairseq_adam(OptimizerSlot& slot, const UpdateStep& step) {
  const OptimizerRecipe& recipe = step.recipe;
  decay_parameter(slot, step.lr);
  update_means(slot, recipe);
  const double first = bias_correction(recipe.beta1, step),
               second = bias_correction(recipe.beta2, step);
  slot.parameter.addcdiv_(slot.first, slot.second.sqrt().add_(recipe.epsilon),
                          -step.lr * std::sqrt(second) / first);
}

// p -= lr (m / (sqrt(s) + eps) + d p): no corrections
void bert_adam(OptimizerSlot& slot, const UpdateStep& step) {
  update_means(slot, step.recipe);
  const at::Tensor direction = slot.first / slot.second.sqrt().add_(step.recipe.epsilon);
  slot.parameter.add_(direction.add_(slot.parameter, slot.decay), -step.lr);
}

// In the order of OptimizerRecipe::Name.
constexpr UpdateRule kUpdateRules[] = {
    {sgd, "momentum", nullptr},         {adam, "first", "second"},
    {adamw, "first", "second"},         {fairseq_adam, "first", "second"},
    {bert_adam, "first", "second"},     {nesterov, "momentum", nullptr},
    {fairseq_nag, "momentum", nullptr},
};

}  // namespace

const UpdateRule& update_rule(OptimizerRecipe::Name name) {
  return kUpdateRules[static_cast<std::size_t>(name)];
}

}  // namespace bitcycle
