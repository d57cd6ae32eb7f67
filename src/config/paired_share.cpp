#include "bitcycle/config/paired_share.h"

#include "bitcycle/base/statistics.h"

#include <cmath>

namespace bitcycle {
namespace {

EstimatedMean estimated(const std::vector<double>& values) {
  return {mean(values), standard_error(values).value_or(0)};
}

}  // namespace

PairedShare paired_share(const std::vector<LearnedPair>& pairs) {
  PairedShare found{.pairs = static_cast<int>(pairs.size()), .share = {0, 1}};
  if (pairs.empty()) return found;
  std::vector<double> low, high;
  for (const LearnedPair& pair : pairs) {
    low.push_back(pair.low);
    high.push_back(pair.high);
  }
  found.low = estimated(low);
  found.high = estimated(high);
  if (pairs.size() < 2 || found.high.value <= 0) return found;
  const double share = found.low.value / found.high.value;
  std::vector<double> residuals;
  for (const LearnedPair& pair : pairs) residuals.push_back(pair.low - share * pair.high);
  found.share = {share, *standard_error(residuals) / found.high.value};
  return found;
}

double surely_above(const PairedShare& found, double threshold) {
  const double distance = found.share.value - threshold;
  if (found.pairs < 2) return 0.5;
  if (found.share.error == 0) return distance > 0 ? 1 : distance < 0 ? 0 : 0.5;
  return student_below(distance / found.share.error, found.pairs - 1);
}

}  // namespace bitcycle
