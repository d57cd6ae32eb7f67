#pragma once

// A trainable LibTorch module built from a Network description. Its parameters carry the names that
// the same network has in PyTorch ("layer1.0.conv1.weight"), and start from values that depend on
// the seed and the parameter's name alone.

#include "bitcycle/network/network.h"
#include "bitcycle/nn/conv_unit.h"
#include "bitcycle/nn/quant_linear.h"

#include <functional>
#include <vector>

namespace bitcycle {

class NetworkModelImpl : public torch::nn::Module, public SchemeUser {
 public:
  NetworkModelImpl(Network network, std::uint64_t seed);

  // Called with each node and its output, in execution order.
  using Observer = std::function<void(const Node&, const at::Tensor&)>;

  // x: [batch, channels, height, width], channels-last. Returns [batch, classes].
  at::Tensor forward(const at::Tensor& x, const Observer& observer = {});

  const Network& network() const { return network_; }
  void use_scheme(const std::shared_ptr<const Scheme>& scheme, Executor executor) override;

 private:
  void build(const Node& node);
  void initialise(std::uint64_t seed);
  IntegerUnitOutput run(const Node& node, const UnitTensor& x, const UnitTensor& residual);
  at::Tensor run_in_float(const Node& node, const at::Tensor& x, const at::Tensor& residual);

  Network network_;
  Executor executor_ = Executor::simulate;
  std::vector<ConvUnit> units_;       // by node; empty where the node is no convolution
  std::vector<QuantLinear> linears_;  // by node likewise
  std::vector<int> readers_;          // how many nodes read a node's output
};
TORCH_MODULE(NetworkModel);

}  // namespace bitcycle
