#pragma once

// The precision of one layer at one step, by role.

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

// What the samples of a step had in a block whose gate chose for each of them: which bits, and the
// share of samples. Those that skipped the block are in none, so shares may add up to less than 1.
struct Mixture {
  std::vector<LayerBits> bits;
  std::vector<double> shares;
};

// Forward over backward: "8/8", "4w 8a/8", "fp/fp".
std::string to_text(LayerBits bits);

}  // namespace bitcycle
