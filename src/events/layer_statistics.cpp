#include "bitcycle/events/layer_statistics.h"

#include <algorithm>
#include <cmath>

namespace bitcycle {

double TensorStatistics::sqnr_db() const {
  return 10 * std::log10(signal / noise);
}

std::vector<std::int64_t> TensorStatistics::code_counts() const {
  const std::size_t groups = std::min(kParts, std::size_t{1} << widest);
  std::vector<std::int64_t> counts(groups);
  for (std::size_t i = 0; i < kParts; ++i) counts[i * groups / kParts] += codes[i];
  return counts;
}

}  // namespace bitcycle
