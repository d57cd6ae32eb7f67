#pragma once

// Puts a network together node by node and works out the shapes on the way, so that the zoo's
// functions state only what distinguishes one layer from the next.

#include "bitcycle/network/network.h"

#include <string>

namespace bitcycle {

// A convolution with batch norm; padded so that stride 1 keeps the size of the map.
struct ConvolutionSpec {
  int channels = 0;
  int kernel = 1;
  int stride = 1;
  int groups = 1;
  int residual = kNone;
  Activation activation = Activation::relu;
  LayerPrecision precision = LayerPrecision::scheduled;
};

class NetworkBuilder {
 public:
  NetworkBuilder(std::string name, ImageShape input, int classes, WeightInit convolution_init);

  // Each adds a node that reads node `input` and returns the new node's index.
  int convolution(int input, std::string name, std::string norm_name, const ConvolutionSpec& spec);
  int max_pool(int input, int kernel, int stride);
  // Global average pooling and the final linear layer, which ends the network.
  Network classifier(int input, std::string name, WeightInit init);

  const ImageShape& shape(int node) const;

  // The index of the node that is added next, where a block may begin; and its end.
  int next() const { return static_cast<int>(network_.nodes.size()); }
  void end_block(int first) { network_.blocks.push_back({first, next() - 1}); }
  void set_gates(const GateShape& gates) { network_.gates = gates; }

 private:
  int add(Node node);
  ImageShape sliding_output(const Node& node, int channels) const;

  Network network_;
  WeightInit convolution_init_;
};

}  // namespace bitcycle
