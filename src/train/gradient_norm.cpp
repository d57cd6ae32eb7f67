#include "train/gradient_norm.h"

#include "bitcycle/kernels/sum_of_squares.h"

#include "quant/dense.h"

#include <cmath>

namespace bitcycle {
namespace {

double squared_norm(const at::Tensor& x) {
  const bool plain = x.is_cpu() && x.scalar_type() == at::kFloat;
  return plain ? sum_of_squares(values(dense(x))) : x.to(at::kDouble).square().sum().item<double>();
}

}  // namespace

double gradient_norm(const std::vector<at::Tensor>& gradients) {
  double sum = 0;
  for (const at::Tensor& gradient : gradients) sum += squared_norm(gradient);
  return std::sqrt(sum);
}

void clip_gradients(const std::vector<at::Tensor>& gradients, double max_norm) {
  constexpr double kEpsilon = 1e-6;  // PyTorch's
  const double norm = gradient_norm(gradients);
  const double factor = max_norm / (norm + kEpsilon);
  if (!std::isfinite(norm) || factor >= 1) return;
  for (at::Tensor gradient : gradients) gradient.mul_(factor);
}

}  // namespace bitcycle
