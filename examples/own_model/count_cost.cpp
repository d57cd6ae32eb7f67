// What a step of training costs, with the part of Bitcycle that needs no LibTorch.
// Run:     ./count_cost
// Prints:  the GBitOPs of a step of 128 pictures at 4/8 bits, the first layer in float.

#include "bitcycle/cost/cost_model.h"
#include "bitcycle/network/zoo.h"

#include <iostream>
#include <vector>

int main() {
  const bitcycle::Network network = bitcycle::make_network("cifar_resnet20");
  const bitcycle::CostModel model(bitcycle::layers_of(network), bitcycle::Counting::bitcycle);
  std::vector<bitcycle::LayerBits> bits = model.resolve(bitcycle::layer_bits(4, 8));
  bits[0] = {};  // an override: the first layer in float
  const double bitops = model.sample_cost(bits).total() * 128;  // one step of 128 samples
  std::cout << bitops / 1e9 << " GBitOPs\n";
}
