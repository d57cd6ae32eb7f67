#include "bitcycle/landscape/surface.h"

#include <algorithm>
#include <cmath>

namespace bitcycle {

ValueRange value_range(const Surface& surface) {
  std::vector<double> finite;
  for (const double value : surface.values) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  if (finite.empty()) return {};
  const auto [least, most] = std::ranges::minmax(finite);
  return {least, most};
}

}  // namespace bitcycle
