#pragma once

// A trainable LibTorch module built from a Network description. Its parameters carry the names that
// the same network has in PyTorch ("layer1.0.conv1.weight"), and start from values that depend on
// the seed and the parameter's name alone.

#include "bitcycle/models/gates.h"
#include "bitcycle/network/network.h"
#include "bitcycle/nn/conv_unit.h"
#include "bitcycle/nn/quant_linear.h"

#include <functional>
#include <optional>
#include <vector>

namespace bitcycle {

class NodeOutputs;

// Between what the gates of a network choose, and how a choice is carried out.
struct BlockOptions {
  enum class Form {
    chosen,          // each sample is computed at its own bits
    all_candidates,  // the block is computed at all of them and the results mixed, as FracTrain's
                     // code for CIFAR does; simulated only
  };
  std::vector<LayerBits> options;  // no activation bits: the block is skipped
  Form form = Form::chosen;

  bool skips(int option) const { return options[static_cast<std::size_t>(option)].activation == 0; }
  bool may_skip() const;
};

class NetworkModelImpl : public torch::nn::Module, public SchemeUser {
 public:
  NetworkModelImpl(Network network, std::uint64_t seed);

  // Called with each node and its output, in execution order.
  using Observer = std::function<void(const Node&, const at::Tensor&)>;

  // x: [batch, channels, height, width], channels-last. Returns [batch, classes].
  at::Tensor forward(const at::Tensor& x, const Observer& observer = {});

  const Network& network() const { return network_; }
  // For a network with gates, before it runs: as many options as they have. Throws Error(usage)
  // where a block cannot be skipped and an option would do so.
  void set_options(const BlockOptions& options);
  // Null without gates.
  GatesImpl* gates() { return gates_.get(); }
  void use_scheme(const std::shared_ptr<const Scheme>& scheme, Executor executor) override;

 private:
  void build(const Node& node);
  void initialise(std::uint64_t seed);
  void build_gates(std::uint64_t seed);
  std::optional<std::size_t> block_from(int node) const;
  bool feeds_gate(int index) const;
  bool is_read_in_integers(int pool, const at::Tensor& x) const;
  // What a unit's readers want of it.
  struct Readers {
    Delivery delivery;
    ChannelMeans means = ChannelMeans::unwanted;
  };
  Readers readers_of(int index) const;
  void run_node(int index, NodeOutputs& outputs, const Observer& observer, Readers readers);
  // gated_blocks.cpp
  void run_block(std::size_t index, NodeOutputs& outputs, const Observer& observer);
  UnitTensor run_passed(std::size_t index, const GateChoice& choice, NodeOutputs& outputs,
                        const Observer& observer);
  UnitTensor run_candidates(std::size_t index, const GateChoice& choice, NodeOutputs& outputs,
                            const Observer& observer);
  int projection_of(const ResidualBlock& block) const;
  void tell(std::size_t block, int node, const std::shared_ptr<const SampleChoice>& choice,
            std::int64_t samples);
  IntegerUnitOutput run(const Node& node, const UnitTensor& x, const UnitTensor& residual,
                        Readers readers);
  at::Tensor run_in_float(const Node& node, const at::Tensor& x, const at::Tensor& residual);

  Network network_;
  std::vector<ConvUnit> units_;       // by node; empty where the node is no convolution
  std::vector<QuantLinear> linears_;  // by node likewise
  std::vector<int> readers_;          // how many nodes read a node's output
  Gates gates_{nullptr};
  std::vector<std::vector<std::size_t>> gated_nodes_;  // of each block
  BlockOptions options_;
};
TORCH_MODULE(NetworkModel);

}  // namespace bitcycle
