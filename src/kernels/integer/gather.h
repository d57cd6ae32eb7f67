#pragma once

// The driver that forward and backward-data convolutions share: for every output pixel, gather the
// codes under the taps and multiply them with the packed weights.

#include "kernels/integer/weights.h"

#include <span>
#include <vector>

namespace bitcycle::integer {

struct Gather {
  CodeGrid grid;  // of the gathered codes
  Codes codes;
  int weight_bits = kMaxBits;
  std::span<const PackedTaps> phases;  // output pixel (y, x) belongs to phase y % step, x % step
  int step = 1;                        // phases.size() == step * step
  int out_height = 1;
  int out_width = 1;
  Box box = Box::pixel;
  // Per gathered channel, the weight of its codes in the box sums; empty: 1.
  std::span<const float> box_weights;
  // Per output channel, padded to panels.
  std::span<const float> offsets;
  std::span<const float> scales;
  std::span<const float> bias;
  MutableReal output;
  ChannelStats* stats = nullptr;
};

void gather(const Gather& call);

}  // namespace bitcycle::integer
