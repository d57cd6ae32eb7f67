#pragma once

#include "bitcycle/base/random.h"

#include <cstddef>
#include <vector>

namespace bitcycle {

// Standard normal values, the same for the same seed.
inline std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
  const RandomKey key(seed);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(key.normal(i));
  return values;
}

}  // namespace bitcycle
