#pragma once

// Finding values that are not finite, so that a run which diverges says so.
//
// Note [Poison]: integer codes cannot stand for NaN or infinity, so quantizing would hide them and
// the loss would stay finite. The passes see every value anyway, and whoever finds one that is not
// finite hands on NaN: a range that holds such a value is kPoisoned, a poisoned range gives a NaN
// scale, and weights, products and errors with a NaN scale are NaN as a whole. NaN passes a ReLU.
// So divergence reaches the loss, or the weights by way of their gradients, at the step where it
// happens, under every executor.

#include "bitcycle/kernels/range.h"

#include <cmath>
#include <limits>
#include <span>

namespace bitcycle {

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr Range kPoisoned{kNaN, kNaN};

inline bool finite(Range range) {
  return std::isfinite(range.low) && std::isfinite(range.high);
}

bool all_finite(std::span<const float> x);

}  // namespace bitcycle
