#include "bitcycle/models/network_model.h"

#include "bitcycle/base/random.h"

#include "models/initial_values.h"
#include "models/module_tree.h"
#include "models/node_outputs.h"
#include "quant/dense.h"

#include <algorithm>
#include <cmath>

namespace bitcycle {
namespace {

ConvUnitOptions unit_options(const Node& node) {
  auto conv = torch::nn::Conv2dOptions(node.in.channels, node.out.channels, node.kernel)
                  .stride(node.stride)
                  .padding(node.padding)
                  .groups(node.groups)
                  .bias(false);
  return {conv, node.activation};
}

void fill_weight(at::Tensor& weight, const Node& node, RandomKey key) {
  const double area = static_cast<double>(node.kernel) * node.kernel;
  const double fan_in = area * node.in.channels / node.groups;
  switch (node.init) {
    case WeightInit::normal_fan_out:
      return fill_normal(weight, key, std::sqrt(2.0 / (area * node.out.channels)));
    case WeightInit::uniform_fan_in:
      return fill_uniform(weight, key, 1.0 / std::sqrt(fan_in));
    case WeightInit::normal_product:
      return fill_normal(weight, key, std::sqrt(2.0 / (fan_in * node.out.channels)));
  }
}

std::vector<int> count_readers(const Network& network) {
  std::vector<int> readers(network.nodes.size(), 0);
  for (const Node& node : network.nodes) {
    if (node.input >= 0) ++readers[node.input];
    if (node.residual >= 0) ++readers[node.residual];
  }
  return readers;
}

}  // namespace

NetworkModelImpl::NetworkModelImpl(Network network, std::uint64_t seed)
    : network_(std::move(network)), readers_(count_readers(network_)) {
  for (const Node& node : network_.nodes) build(node);
  initialise(seed);
  if (network_.has_gates()) build_gates(seed);
}

void NetworkModelImpl::build(const Node& node) {
  units_.emplace_back(nullptr);
  linears_.emplace_back(nullptr);
  if (node.kind == NodeKind::convolution) {
    units_.back() = ConvUnit(unit_options(node));
    register_at_path(*this, node.name, units_.back()->conv.ptr());
    register_at_path(*this, node.norm_name, units_.back()->norm.ptr());
  } else if (node.kind == NodeKind::linear) {
    linears_.back() = QuantLinear(torch::nn::LinearOptions(node.in.channels, node.out.channels));
    register_at_path(*this, node.name, linears_.back().ptr());
  }
}

void NetworkModelImpl::initialise(std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  const RandomKey key = RandomKey(seed).derive("init");
  for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
    const Node& node = network_.nodes[i];
    if (units_[i]) fill_weight(units_[i]->conv->weight, node, key.derive(node.name));
    if (!linears_[i]) continue;
    fill_weight(linears_[i]->weight, node, key.derive(node.name));
    fill_uniform(linears_[i]->bias, key.derive(node.name + ".bias"),
                 1.0 / std::sqrt(static_cast<double>(node.in.channels)));
  }
}

// Units are no modules of the model: their convolutions and norms are. The other layers are told as
// its modules.
void NetworkModelImpl::use_scheme(const std::shared_ptr<const Scheme>& scheme, Executor executor) {
  for (ConvUnit& unit : units_) {
    if (unit) unit->use_scheme(scheme, executor);
  }
}

at::Tensor NetworkModelImpl::forward(const at::Tensor& x, const Observer& observer) {
  NodeOutputs outputs(dense(x), readers_);
  if (gates_) gates_->start();
  const int last = static_cast<int>(network_.nodes.size()) - 1;
  for (int i = 0; i <= last; ++i) {
    const auto block = block_from(i);
    if (!block) {
      run_node(i, outputs, observer, readers_of(i));
      continue;
    }
    run_block(*block, outputs, observer);
    i = network_.blocks[*block].last;
  }
  return outputs.peek(last).values;
}

// The block that begins with a node, where gates choose for blocks.
std::optional<std::size_t> NetworkModelImpl::block_from(int node) const {
  if (!gates_ || gates_->bypassed()) return {};
  const auto found = std::ranges::find(network_.blocks, node, &ResidualBlock::first);
  if (found == network_.blocks.end()) return {};
  return static_cast<std::size_t>(found - network_.blocks.begin());
}

void NetworkModelImpl::run_node(int index, NodeOutputs& outputs, const Observer& observer,
                                Readers readers) {
  const Node& node = network_.nodes[static_cast<std::size_t>(index)];
  const UnitTensor input = outputs.take(node.input);
  outputs.put(index, run(node, input, outputs.take(node.residual), readers));
  if (observer) observer(node, ready(outputs.peek(index)));
}

// Whether a gate looks at a node's output.
bool NetworkModelImpl::feeds_gate(int index) const {
  if (!gates_ || gates_->bypassed()) return false;
  return std::ranges::any_of(network_.blocks, [&](const ResidualBlock& block) {
    return network_.nodes[static_cast<std::size_t>(block.first)].input == index;
  });
}

NetworkModelImpl::Readers NetworkModelImpl::readers_of(int index) const {
  const bool means = feeds_gate(index);
  const Delivery alone = means ? Delivery::ready : Delivery::pending;
  return {readers_[static_cast<std::size_t>(index)] == 1 ? alone : Delivery::ready_twice,
          means ? ChannelMeans::wanted : ChannelMeans::unwanted};
}

// Whether a unit that reads a pool's output executes, as it would on the pool's input.
bool NetworkModelImpl::is_read_in_integers(int pool, const at::Tensor& x) const {
  for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
    const Node& node = network_.nodes[i];
    if (node.input != pool && node.residual != pool) continue;
    if (units_[i] && units_[i]->executes(x)) return true;
  }
  return false;
}

// Units that execute in integers read and write halves; everything else is in float.
IntegerUnitOutput NetworkModelImpl::run(const Node& node, const UnitTensor& x,
                                        const UnitTensor& residual, Readers readers) {
  const auto index = static_cast<std::size_t>(&node - network_.nodes.data());
  if (units_[index] && units_[index]->executes(x.values)) {
    return units_[index]->execute(as_half(x), applied(as_half(residual)), readers.delivery,
                                  readers.means);
  }
  // Where a pool is read in integers, a float tensor is rounded before it: there it costs less.
  const bool halves = is_half(x.values) || is_read_in_integers(static_cast<int>(index), x.values);
  if (node.kind == NodeKind::max_pool && halves) {
    return {.output = {.values = max_pool_half(ready(as_half(x)), node.kernel, node.stride,
                                               node.padding)}};
  }
  if (node.kind == NodeKind::average_pool && is_half(x.values)) {
    return {.output = {.values = mean_pool(ready(x))}};
  }
  return {.output = {.values = run_in_float(node, as_float(x), as_float(residual))}};
}

at::Tensor NetworkModelImpl::run_in_float(const Node& node, const at::Tensor& x,
                                          const at::Tensor& residual) {
  const auto index = static_cast<std::size_t>(&node - network_.nodes.data());
  switch (node.kind) {
    case NodeKind::convolution:
      return units_[index]->forward(x, residual);
    case NodeKind::max_pool:
      return at::max_pool2d(x, node.kernel, node.stride, node.padding);
    case NodeKind::average_pool:
      return at::adaptive_avg_pool2d(x, {1, 1});
    case NodeKind::linear:
      return linears_[index]->forward(x.flatten(1));
  }
  return x;
}

}  // namespace bitcycle
