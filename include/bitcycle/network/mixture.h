#pragma once

// What the samples of a step had in a layer whose bits are chosen per sample.

#include "bitcycle/network/layer_bits.h"

#include <vector>

namespace bitcycle {

struct Mixture {
  struct Part {
    LayerBits bits;
    double samples = 0;
  };
  double samples = 0;  // of the step; those that a layer was skipped for are in no part
  std::vector<Part> parts;

  bool empty() const { return samples == 0; }
  void add(LayerBits bits, double count) {
    for (Part& part : parts) {
      if (part.bits == bits) {
        part.samples += count;
        return;
      }
    }
    parts.push_back({bits, count});
  }
};

}  // namespace bitcycle
