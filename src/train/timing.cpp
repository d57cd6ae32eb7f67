#include "bitcycle/train/step_bench.h"

#include <algorithm>
#include <cmath>

namespace bitcycle {
namespace {

double middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace

Timing summarise(std::vector<double> milliseconds) {
  const double middle = middle_of(milliseconds);
  for (double& value : milliseconds) value = std::abs(value - middle);
  return {middle, middle_of(std::move(milliseconds))};
}

}  // namespace bitcycle
