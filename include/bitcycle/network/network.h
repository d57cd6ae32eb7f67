#pragma once

// The one description of a network, used both to count its cost (without LibTorch) and to build it
// (with). A network is a list of nodes in execution order; a node reads the output of earlier nodes
// by index. The convolution node is the fused unit that all zoo networks are made of:
//
//   output = activation( batch_norm( conv(input) ) + residual )

#include "bitcycle/network/layer_info.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bitcycle {

struct ImageShape {
  int channels = 3;
  int height = 32;
  int width = 32;
  std::int64_t elements() const { return std::int64_t{channels} * height * width; }
  bool operator==(const ImageShape&) const = default;
};

enum class NodeKind { convolution, max_pool, average_pool, linear };
enum class Activation { none, relu };
// How a layer's weights start (spec: CPT 3.1 to 3.4).
enum class WeightInit {
  normal_fan_out,  // N(0, sqrt(2 / (k^2 C_out))): CIFAR and ImageNet ResNets' convolutions
  uniform_fan_in,  // U(+-1/sqrt(fan_in)): LibTorch's default, MobileNetV2
  normal_product,  // N(0, sqrt(2 / (in * out))): the ResNets' final layer; bias U(+-1/sqrt(in))
};

// Indices into Network::nodes; kInput is the network's input, kNone stands for "no such edge".
inline constexpr int kInput = -1;
inline constexpr int kNone = -2;

struct Node {
  NodeKind kind = NodeKind::convolution;
  std::string name;       // of the convolution or linear layer, e.g. "layer1.0.conv1"
  std::string norm_name;  // of its batch norm, e.g. "layer1.0.bn1"; convolutions only
  int input = kInput;     // node whose output is read
  int residual = kNone;   // node whose output is added before the activation
  int kernel = 1;         // convolution and max_pool; average_pool always covers its whole input
  int stride = 1;
  int padding = 0;  // zeros for a convolution; max_pool ignores what it pads
  int groups = 1;
  Activation activation = Activation::none;
  LayerPrecision precision = LayerPrecision::scheduled;
  bool ungated = false;  // in float only because the network has gates, and none chooses for it
  WeightInit init = WeightInit::normal_fan_out;
  ImageShape in;  // shapes of one sample; linear layers use channels x 1 x 1
  ImageShape out;

  bool depthwise() const { return groups > 1 && groups == in.channels; }
  bool has_weights() const { return kind == NodeKind::convolution || kind == NodeKind::linear; }
  // Multiply-accumulates of one sample; 0 for pooling.
  std::int64_t macs() const;
  // Trained parameters, batch norm and bias included.
  std::int64_t parameters() const;
};

// The nodes of a residual block, both ends included. All that a block reads of what stands before
// it is the input of its first node.
struct ResidualBlock {
  int first = 0, last = 0;
};

// What decides the precision of each block from its input (network/gates.h).
struct GateShape {
  int options = 0;    // between which a gate chooses; 0: the network has no gates
  int hidden = 0;     // features of a first layer with a ReLU; 0: there is none
  int embedding = 0;  // features that the recurrent cell reads
  int state = 0;      // of the recurrent cell
};

struct Network {
  std::string name;
  ImageShape input;
  int classes = 10;
  std::vector<Node> nodes;
  std::vector<ResidualBlock> blocks = {};
  GateShape gates = {};

  bool has_gates() const { return gates.options > 0; }
  const ImageShape& block_input(const ResidualBlock& block) const { return nodes[block.first].in; }

  std::int64_t macs() const;
  std::int64_t parameters() const;
  // Values of one sample that a training step keeps for its backward pass: the layers' outputs.
  std::int64_t activations() const;
};

// Its convolutions and linear layers, in its order, then those of its gates; a unit of work is a
// sample. Tags: "depthwise"; with gates also "ungated" (Node::ungated), "gate", and "projection"
// for a gated layer that samples pass even where they skip its block.
std::vector<LayerInfo> layers_of(const Network& network);

}  // namespace bitcycle
