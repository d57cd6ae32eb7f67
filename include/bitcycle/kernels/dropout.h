#pragma once

// Dropout by counter: which values are dropped is a function of a key and their places alone, so a
// mask is never stored, and made again where gradients pass.

#include "bitcycle/base/random.h"

#include <cstdint>
#include <span>

namespace bitcycle {

// A value is dropped where its 16 bits of Note [Rounding noise] are below `threshold`; what stays
// is multiplied by `scale`, so that the mean is kept exactly.
struct DropRate {
  std::uint32_t threshold = 0;
  float scale = 1;
};

// The nearest multiple of 2^-16 to a probability in [0, 1).
DropRate drop_rate(double probability);

// out[i] = 0 or scale * x[i], by element first + i of `key`; `first` is even. `out` may be `x`.
void drop_out(std::span<const float> x, DropRate rate, NoiseKey key, std::int64_t first,
              std::span<float> out);

}  // namespace bitcycle
