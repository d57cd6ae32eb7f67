#include "bitcycle/train/weight_plane.h"

#include "bitcycle/models/gates.h"

#include <cmath>
#include <cstdint>
#include <set>

namespace bitcycle {
namespace {

constexpr double kLeastNorm = 1e-10;  // keeps an empty direction from dividing by zero

std::set<const void*> gate_tensors(const torch::nn::Module& model) {
  std::set<const void*> tensors;
  for (const auto& module : model.modules(/*include_self=*/false)) {
    if (dynamic_cast<const GatesImpl*>(module.get()) == nullptr) continue;
    for (const at::Tensor& tensor : module->parameters()) tensors.insert(tensor.data_ptr());
  }
  return tensors;
}

double norm_of(const float* values, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += double{values[i]} * values[i];
  return std::sqrt(sum);
}

// Note [Filter-normalised directions]
at::Tensor direction_of(const at::Tensor& centre, RandomKey key) {
  at::Tensor direction = at::empty_like(centre);
  const std::int64_t filters = centre.size(0),
                     length = centre.numel() / std::max<std::int64_t>(1, filters);
  const float* theta = centre.data_ptr<float>();
  float* delta = direction.data_ptr<float>();
  for (std::int64_t i = 0; i < centre.numel(); ++i) {
    delta[i] = static_cast<float>(key.normal(static_cast<std::uint64_t>(i)));
  }
  for (std::int64_t filter = 0; filter < filters; ++filter) {
    float* own = delta + filter * length;
    const double scale =
        norm_of(theta + filter * length, length) / (norm_of(own, length) + kLeastNorm);
    for (std::int64_t i = 0; i < length; ++i) own[i] = static_cast<float>(own[i] * scale);
  }
  return direction;
}

// On the CPU, in the order of the tensor's indices, whatever its layout.
at::Tensor plain_copy(const at::Tensor& tensor) {
  return tensor.detach().cpu().to(at::kFloat).clone(at::MemoryFormat::Contiguous);
}

// Our own loop: LibTorch's sums may round otherwise at the ends of what a thread was given.
void combine(const WeightPlane::Weight& weight, double alpha, double beta, at::Tensor& sum) {
  const float* theta = weight.centre.data_ptr<float>();
  const float* delta = weight.first.data_ptr<float>();
  const float* eta = weight.second.data_ptr<float>();
  float* to = sum.data_ptr<float>();
  for (std::int64_t i = 0; i < weight.centre.numel(); ++i) {
    to[i] = static_cast<float>(theta[i] + alpha * delta[i] + beta * eta[i]);
  }
}

}  // namespace

WeightPlane::WeightPlane(const torch::nn::Module& model, RandomKey key) {
  std::set<const void*> passed = gate_tensors(model);
  for (const auto& item : model.named_parameters()) {
    const at::Tensor& tensor = item.value();
    if (tensor.dim() < 2 || !passed.insert(tensor.data_ptr()).second) continue;
    const at::Tensor centre = plain_copy(tensor);
    const RandomKey own = key.derive(item.key());
    weights_.push_back({item.key(), tensor, centre, direction_of(centre, own.derive("first")),
                        direction_of(centre, own.derive("second"))});
  }
}

// To the bit, also where a weight is not finite.
WeightPlane::~WeightPlane() {
  const torch::NoGradGuard no_grad;
  for (Weight& weight : weights_) weight.tensor.copy_(weight.centre);
}

void WeightPlane::move_to(double alpha, double beta) {
  const torch::NoGradGuard no_grad;
  for (Weight& weight : weights_) {
    at::Tensor sum = at::empty_like(weight.centre);
    combine(weight, alpha, beta, sum);
    weight.tensor.copy_(sum);  // tells those who have prepared the weight that it has changed
  }
}

}  // namespace bitcycle
