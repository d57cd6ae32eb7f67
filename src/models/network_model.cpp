#include "bitcycle/models/network_model.h"

#include "bitcycle/base/random.h"

#include "models/module_tree.h"
#include "quant/dense.h"

#include <algorithm>
#include <cassert>
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

// Both write through a contiguous copy, so that values do not depend on the memory order.
void fill_normal(at::Tensor& parameter, RandomKey key, double deviation) {
  at::Tensor plain = at::empty(parameter.sizes());
  auto out = values(plain);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(deviation * key.normal(i));
  }
  parameter.copy_(plain);
}

void fill_uniform(at::Tensor& parameter, RandomKey key, double bound) {
  at::Tensor plain = at::empty(parameter.sizes());
  auto out = values(plain);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(bound * (2.0 * key.uniform(i) - 1.0));
  }
  parameter.copy_(plain);
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

std::vector<int> last_uses(const Network& network) {
  std::vector<int> last(network.nodes.size(), 0);
  for (int i = 0; i < static_cast<int>(last.size()); ++i) {
    const Node& node = network.nodes[i];
    last[i] = i;
    if (node.input >= 0) last[node.input] = i;
    if (node.residual >= 0) last[node.residual] = i;
  }
  return last;
}

}  // namespace

NetworkModelImpl::NetworkModelImpl(Network network, std::uint64_t seed)
    : network_(std::move(network)), last_use_(last_uses(network_)) {
  for (const Node& node : network_.nodes) build(node);
  initialise(seed);
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

at::Tensor NetworkModelImpl::forward(const at::Tensor& x, const Observer& observer) {
  const at::Tensor input = dense(x);
  std::vector<at::Tensor> outputs(network_.nodes.size());
  const auto output_of = [&](int node) {
    if (node == kNone) return at::Tensor();
    return node == kInput ? input : outputs[node];
  };
  for (int i = 0; i < static_cast<int>(outputs.size()); ++i) {
    const Node& node = network_.nodes[i];
    outputs[i] = run(node, output_of(node.input), output_of(node.residual));
    if (observer) observer(node, outputs[i]);
    for (int source : {node.input, node.residual}) {
      if (source >= 0 && last_use_[source] == i) outputs[source].reset();
    }
  }
  return outputs.back();
}

at::Tensor NetworkModelImpl::run(const Node& node, const at::Tensor& x,
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
