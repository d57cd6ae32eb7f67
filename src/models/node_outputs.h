#pragma once

// What the nodes of a network have put out, while others still have to read it.

#include "bitcycle/network/network.h"
#include "bitcycle/quant/unit_tensor.h"

#include <utility>
#include <vector>

namespace bitcycle {

inline bool is_half(const at::Tensor& x) {
  return x.defined() && x.scalar_type() == at::kHalf;
}

inline UnitTensor as_half(UnitTensor x) {
  if (x.values.defined() && !is_half(x.values)) x.values = enter_half(x.values, x.gradient_scale);
  return x;
}
inline at::Tensor as_float(const UnitTensor& x) {
  return is_half(x.values) ? leave_half(ready(x), x.gradient_scale) : x.values;
}

// The outputs of nodes while others still have to read them.
class NodeOutputs {
 public:
  NodeOutputs(at::Tensor input, std::vector<int> readers)
      : input_(std::move(input)),
        scale_(bitcycle::gradient_scale(input_.size(0))),
        readers_(std::move(readers)),
        outputs_(readers_.size()) {}

  // For a part of a network, whose first nodes read what was put here.
  NodeOutputs(float gradient_scale, std::vector<int> readers)
      : scale_(gradient_scale), readers_(std::move(readers)), outputs_(readers_.size()) {}

  // The output for one reader who stands for all.
  UnitTensor take_whole(int node) {
    return node == kInput ? take(node) : std::move(outputs_[node].output);
  }
  UnitTensor take(int node) {
    if (node == kNone) return {};
    if (node == kInput) return {.values = input_, .gradient_scale = scale_};
    auto& [output, second, means] = outputs_[node];
    if (--readers_[node] == 0) return std::move(output);
    if (!is_half(output.values)) return output;
    if (!second.defined()) std::tie(output.values, second) = fork_half(output.values);
    UnitTensor copy = output;
    copy.values = std::exchange(second, {});
    return copy;
  }
  void put(int node, IntegerUnitOutput output) {
    outputs_[node] = std::move(output);
    outputs_[node].output.gradient_scale = scale_;
  }
  const UnitTensor& peek(int node) const { return outputs_[node].output; }
  float scale() const { return scale_; }  // Note [Scaled gradients]
  // Makes a node's output half, once for all who are going to read it.
  void enter(int node) {
    if (node != kInput) outputs_[node].output = as_half(std::move(outputs_[node].output));
  }
  // The mean of each channel of a node's output, [samples, channels] in float.
  at::Tensor means(int node) {
    auto& [output, second, means] = outputs_[node];
    if (means.defined()) return std::exchange(means, {});
    if (!output.values.is_cpu()) return output.values.mean({2, 3});
    if (!is_half(output.values)) return mean_pool(output.values).flatten(1);
    output = applied(std::move(output));
    std::tie(output.values, means) = with_channel_means(output.values, scale_);
    return std::exchange(means, {});
  }

 private:
  at::Tensor input_;
  float scale_;  // Note [Scaled gradients]
  std::vector<int> readers_;
  std::vector<IntegerUnitOutput> outputs_;
};

}  // namespace bitcycle
