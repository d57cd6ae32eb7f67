#pragma once

// What a schedule amounts to over a run: how long it stays at each width, and what it costs against
// a static run at its upper bounds.

#include "bitcycle/schedule/schedule.h"

#include <vector>

namespace bitcycle {

// Float counts as 32 bits wherever widths are averaged or multiplied, as in the papers.
inline constexpr int kFloatBits = 32;
constexpr int counted_bits(int bits) {
  return bits == 0 ? kFloatBits : bits;
}

struct Level {
  int bits = 0;
  Step first = 0;  // the first step at this width
  Step steps = 0;  // how many there are in all
};

// The widths that occur in steps 0 .. total-1, lowest first, float (0) last.
std::vector<Level> levels(const Schedule& schedule, Step total);

// The mean width over steps 0 .. total-1, total >= 1.
double mean_bits(const Schedule& schedule, Step total);

// A pair of widths: forward (weights and activations) and backward (errors).
struct BitPair {
  int forward = 8;
  int backward = 8;
};

// The mean over the run of (b^2 + 2 b g) / (B^2 + 2 B G): a forward product b x b and two backward
// ones b x g, against a static run at `reference` (B, G). A float forward pass makes the backward
// pass float as well. total >= 1.
double relative_cost(const Schedule& forward, const Schedule& backward, Step total,
                     BitPair reference);

}  // namespace bitcycle
