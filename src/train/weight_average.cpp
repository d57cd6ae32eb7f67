#include "train/weight_average.h"

namespace bitcycle {

WeightAverage::WeightAverage(const torch::nn::Module& model) {
  for (const auto& item : model.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    weights_.emplace(item.key(), item.value());
    means_.emplace(item.key(), at::zeros_like(item.value()));
  }
}

// An operation at a time: fused ones may round otherwise at the ends of what threads share.
void WeightAverage::add(Step points) {
  const torch::NoGradGuard no_grad;
  for (auto& [name, mean] : means_) {
    const at::Tensor& weight = weights_.at(name);
    if (points == 0) {
      mean.copy_(weight);
    } else {
      mean.add_((weight - mean).div_(static_cast<double>(points + 1)));
    }
  }
}

void WeightAverage::write_to_model() const {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, mean] : means_) weights_.at(name).detach().copy_(mean);
}

}  // namespace bitcycle
