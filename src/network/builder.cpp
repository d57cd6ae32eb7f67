#include "network/builder.h"

#include "bitcycle/base/error.h"

#include <utility>

namespace bitcycle {
namespace {

int sliding_size(int size, const Node& node) {
  return (size + 2 * node.padding - node.kernel) / node.stride + 1;
}

}  // namespace

NetworkBuilder::NetworkBuilder(std::string name, ImageShape input, int classes,
                               WeightInit convolution_init)
    : network_{.name = std::move(name), .input = input, .classes = classes, .nodes = {}},
      convolution_init_(convolution_init) {}

const ImageShape& NetworkBuilder::shape(int node) const {
  return node == kInput ? network_.input : network_.nodes[static_cast<std::size_t>(node)].out;
}

int NetworkBuilder::add(Node node) {
  network_.nodes.push_back(std::move(node));
  return static_cast<int>(network_.nodes.size()) - 1;
}

// Padding would let a 1x1 map pass any number of further strides; a network that small has nothing
// left to look at, so it is refused.
ImageShape NetworkBuilder::sliding_output(const Node& node, int channels) const {
  if (node.in.height < node.stride || node.in.width < node.stride) {
    const auto size = [](const ImageShape& shape) {
      return std::to_string(shape.height) + "x" + std::to_string(shape.width);
    };
    throw Error(ErrorCode::usage,
                "images of " + size(network_.input) + " are too small for " + network_.name + ": " +
                    node.name + " has stride " + std::to_string(node.stride) +
                    " and would read a map of " + size(node.in),
                "Use larger images or a network with fewer strides.");
  }
  return {channels, sliding_size(node.in.height, node), sliding_size(node.in.width, node)};
}

int NetworkBuilder::convolution(int input, std::string name, std::string norm_name,
                                const ConvolutionSpec& spec) {
  Node node;
  node.kind = NodeKind::convolution;
  node.name = std::move(name);
  node.norm_name = std::move(norm_name);
  node.input = input;
  node.residual = spec.residual;
  node.kernel = spec.kernel;
  node.stride = spec.stride;
  node.padding = spec.kernel / 2;
  node.groups = spec.groups;
  node.activation = spec.activation;
  node.precision = spec.precision;
  node.init = convolution_init_;
  node.in = shape(input);
  node.out = sliding_output(node, spec.channels);
  return add(std::move(node));
}

int NetworkBuilder::max_pool(int input, int kernel, int stride) {
  Node node;
  node.kind = NodeKind::max_pool;
  node.name = "maxpool";
  node.input = input;
  node.kernel = kernel;
  node.stride = stride;
  node.padding = kernel / 2;
  node.in = shape(input);
  node.out = sliding_output(node, node.in.channels);
  return add(std::move(node));
}

Network NetworkBuilder::classifier(int input, std::string name, WeightInit init) {
  Node pool;
  pool.kind = NodeKind::average_pool;
  pool.name = "avgpool";
  pool.input = input;
  pool.in = shape(input);
  pool.out = {pool.in.channels, 1, 1};
  const ImageShape features = pool.out;
  Node linear;
  linear.kind = NodeKind::linear;
  linear.name = std::move(name);
  linear.input = add(std::move(pool));
  linear.precision = LayerPrecision::full;
  linear.init = init;
  linear.in = features;
  linear.out = {network_.classes, 1, 1};
  add(std::move(linear));
  return std::move(network_);
}

}  // namespace bitcycle
