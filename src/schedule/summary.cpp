#include "bitcycle/schedule/summary.h"

#include <map>

namespace bitcycle {
namespace {

// Mean of f over steps 0 .. total-1. The terms are whole numbers, so the sum is exact.
template <typename F>
double mean(Step total, F f) {
  Step sum = 0;
  for (Step t = 0; t < total; ++t) sum += f(t);
  return static_cast<double>(sum) / static_cast<double>(total);
}

Step products(int forward, int backward) {
  const Step b = counted_bits(forward), g = forward == 0 ? kFloatBits : counted_bits(backward);
  return b * b + 2 * b * g;
}

}  // namespace

std::vector<Level> levels(const Schedule& schedule, Step total) {
  std::map<int, Level> found;
  for (Step t = 0; t < total; ++t) {
    const int bits = schedule.bits(t);
    // Float sorts after every quantized width, 32 bits included.
    Level& level =
        found.try_emplace(bits == 0 ? kFloatBits + 1 : bits, Level{bits, t, 0}).first->second;
    ++level.steps;
  }
  std::vector<Level> levels;
  for (const auto& [order, level] : found) levels.push_back(level);
  return levels;
}

double mean_bits(const Schedule& schedule, Step total) {
  return mean(total, [&](Step t) { return counted_bits(schedule.bits(t)); });
}

double relative_cost(const Schedule& forward, const Schedule& backward, Step total,
                     BitPair reference) {
  const double cost =
      mean(total, [&](Step t) { return products(forward.bits(t), backward.bits(t)); });
  return cost / static_cast<double>(products(reference.forward, reference.backward));
}

}  // namespace bitcycle
