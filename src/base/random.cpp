#include "bitcycle/base/random.h"

#include <cmath>
#include <numbers>

namespace bitcycle {

double RandomKey::normal(std::uint64_t i) const {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(2 * i)));
  return radius * std::cos(2.0 * std::numbers::pi * uniform(2 * i + 1));
}

}  // namespace bitcycle
