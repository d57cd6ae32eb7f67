#pragma once

// The precision of one layer at one step, by role.

namespace bitcycle {

// 0 stands for float. A layer whose weights and activations are in float has errors in float too.
struct LayerBits {
  int weight = 0;
  int activation = 0;
  int error = 0;
  bool operator==(const LayerBits&) const = default;
};

}  // namespace bitcycle
