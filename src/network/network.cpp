#include "bitcycle/network/network.h"

#include "bitcycle/network/gates.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace bitcycle {
namespace {

// Weights of the layer itself: C_out x C_in / groups x k x k, or out x in.
std::int64_t weights(const Node& node) {
  const std::int64_t area = std::int64_t{node.kernel} * node.kernel;
  return std::int64_t{node.out.channels} * (node.in.channels / node.groups) * area;
}

std::vector<std::string> tags_of(const Node& node) {
  std::vector<std::string> tags;
  if (node.depthwise()) tags.emplace_back("depthwise");
  if (node.ungated) tags.emplace_back("ungated");
  return tags;
}

LayerInfo info_of(const Node& node) {
  const bool convolution = node.kind == NodeKind::convolution;
  return {.name = node.name,
          .kind = convolution ? LayerKind::convolution : LayerKind::linear,
          .geometry = {.kernel = {node.kernel, node.kernel},
                       .stride = {node.stride, node.stride},
                       .padding = {node.padding, node.padding},
                       .in_channels = node.in.channels,
                       .out_channels = node.out.channels,
                       .groups = node.groups,
                       .width = node.in.width},
          .macs = node.macs(),
          // Scale and shift: two operations per element.
          .norm_ops = convolution ? 2 * node.out.elements() : 0,
          .input_error = node.input == kInput ? InputError::not_needed : InputError::computed,
          .precision = node.precision,
          .tags = tags_of(node)};
}

// Says which layers of a block its gate chooses for, and which of them brings the block's input to
// the shape of its output.
void mark_block(const Network& network, int number, std::vector<LayerInfo>& layers) {
  const ResidualBlock& block = network.blocks[static_cast<std::size_t>(number)];
  const int residual = network.nodes[static_cast<std::size_t>(block.last)].residual;
  for (const std::string& name : gated_layers(network, block)) {
    LayerInfo& layer = *std::ranges::find(layers, name, &LayerInfo::name);
    layer.block = number;
    const bool projection =
        residual >= block.first && network.nodes[static_cast<std::size_t>(residual)].name == name;
    if (projection) layer.tags.emplace_back("projection");
  }
}

}  // namespace

std::int64_t Node::macs() const {
  return has_weights() ? weights(*this) * out.height * out.width : 0;
}

std::int64_t Node::parameters() const {
  if (!has_weights()) return 0;
  // Scale and shift of the batch norm, or the bias of a linear layer.
  const int per_channel = kind == NodeKind::linear ? 1 : 2;
  return weights(*this) + std::int64_t{per_channel} * out.channels;
}

std::int64_t Network::macs() const {
  return std::accumulate(nodes.begin(), nodes.end(), std::int64_t{0},
                         [](std::int64_t sum, const Node& node) { return sum + node.macs(); });
}

std::int64_t Network::parameters() const {
  return std::accumulate(
      nodes.begin(), nodes.end(), gate_parameters(*this),
      [](std::int64_t sum, const Node& node) { return sum + node.parameters(); });
}

std::int64_t Network::activations() const {
  return std::accumulate(nodes.begin(), nodes.end(), std::int64_t{0},
                         [](std::int64_t sum, const Node& node) {
                           return sum + (node.has_weights() ? node.out.elements() : 0);
                         });
}

std::vector<LayerInfo> layers_of(const Network& network) {
  std::vector<LayerInfo> layers;
  for (const Node& node : network.nodes) {
    if (node.has_weights()) layers.push_back(info_of(node));
  }
  if (!network.has_gates()) return layers;
  for (int i = 0; i < std::ssize(network.blocks); ++i) mark_block(network, i, layers);
  std::ranges::copy(gate_layers(network), std::back_inserter(layers));
  return layers;
}

}  // namespace bitcycle
