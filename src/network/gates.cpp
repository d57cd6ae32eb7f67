#include "bitcycle/network/gates.h"

#include "bitcycle/base/error.h"

#include <algorithm>

namespace bitcycle {
namespace {

bool in_a_block(const Network& network, int node) {
  return std::ranges::any_of(network.blocks, [node](const ResidualBlock& block) {
    return block.first <= node && node <= block.last;
  });
}

LayerInfo gate_layer(const std::string& name, int in, int out, int calls) {
  return {.name = "gates." + name,
          .geometry = {.in_channels = in, .out_channels = out},
          .macs = std::int64_t{in} * out * calls,
          .precision = LayerPrecision::full,
          .tags = {"gate"}};
}

}  // namespace

Network gated(Network network, int options) {
  if (network.blocks.empty() || network.gates.state == 0) {
    throw Error(ErrorCode::usage, network.name + " has no blocks that gates could choose for");
  }
  network.gates.options = options;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    if (in_a_block(network, static_cast<int>(i))) continue;
    Node& node = network.nodes[i];
    node.ungated = node.precision == LayerPrecision::scheduled;
    node.precision = LayerPrecision::full;
  }
  return network;
}

std::vector<std::string> gated_layers(const Network& network, const ResidualBlock& block) {
  std::vector<std::string> names;
  for (int i = block.first; i <= block.last; ++i) {
    const Node& node = network.nodes[static_cast<std::size_t>(i)];
    const bool scheduled = node.precision == LayerPrecision::scheduled;
    if (node.has_weights() && scheduled && !node.depthwise()) names.push_back(node.name);
  }
  return names;
}

std::vector<LayerInfo> gate_layers(const Network& network) {
  if (!network.has_gates()) return {};
  const GateShape& gates = network.gates;
  std::vector<LayerInfo> layers;
  for (std::size_t i = 0; i < network.blocks.size(); ++i) {
    const std::string name = std::to_string(i);
    int in = network.block_input(network.blocks[i]).channels;
    if (gates.hidden > 0) {
      layers.push_back(gate_layer(name + ".0", in, gates.hidden, 1));
      in = gates.hidden;
    }
    layers.push_back(gate_layer(name + (gates.hidden > 0 ? ".2" : ".0"), in, gates.embedding, 1));
  }
  const int calls = static_cast<int>(network.blocks.size());
  layers.push_back(gate_layer("ih", gates.embedding, 4 * gates.state, calls));
  layers.push_back(gate_layer("hh", gates.state, 4 * gates.state, calls));
  layers.push_back(gate_layer("head", gates.state, gates.options, calls));
  return layers;
}

std::int64_t gate_parameters(const Network& network) {
  if (!network.has_gates()) return 0;
  const GateShape& gates = network.gates;
  std::int64_t count = 0;
  for (const ResidualBlock& block : network.blocks) {
    const std::int64_t in = network.block_input(block).channels;
    const std::int64_t hidden = gates.hidden;
    count += hidden > 0 ? hidden * (in + 1) + gates.embedding * (hidden + 1)
                        : gates.embedding * (in + 1);
  }
  // The cell has two biases, as PyTorch's.
  count += 4LL * gates.state * (gates.embedding + gates.state + 2);
  return count + std::int64_t{gates.options} * (gates.state + 1);
}

}  // namespace bitcycle
