#pragma once

// The precision of one layer at one step, by role.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace bitcycle {

// 0 stands for float. A layer whose weights and activations are in float has errors in float too.
struct LayerBits {
  int weight = 0;
  int activation = 0;
  int error = 0;
  bool operator==(const LayerBits&) const = default;
};

// What the samples of a step had in a layer whose bits a gate chose for each of them: which bits,
// and the share of samples. Those that skipped it are in none, so shares may add up to less than 1.
struct Mixture {
  std::vector<LayerBits> bits;
  std::vector<double> shares;

  void add(LayerBits own, double share);
};
// By the index of the layer.
using LayerMixtures = std::map<std::size_t, Mixture>;

// Forward over backward: "8/8", "4w 8a/8", "fp/fp".
std::string to_text(LayerBits bits);
// Of the forward pass alone: "8", "4w 8a", "fp".
std::string forward_text(LayerBits bits);

}  // namespace bitcycle
