#pragma once

namespace bitcycle {

// Smallest and largest value of a tensor.
struct Range {
  float low = 0;
  float high = 0;
};

// Where the running range of activations starts: at the first batch's range, or at zero as in the
// papers' code, which clamps evaluations hard for some tens of steps.
enum class RangeStart { first_batch, zero };

}  // namespace bitcycle
