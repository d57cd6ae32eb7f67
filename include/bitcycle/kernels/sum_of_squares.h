#pragma once

// The squared length of a vector, for the norm that gradients are clipped by.

#include <span>

namespace bitcycle {

// In double, in which a float's square is exact, and summed in an order that depends on the size
// alone, so that neither threads nor instruction sets change a bit of it. Finite exactly when
// every value is.
double sum_of_squares(std::span<const float> x);

}  // namespace bitcycle
