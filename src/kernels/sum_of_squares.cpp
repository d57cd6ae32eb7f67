#include "bitcycle/kernels/sum_of_squares.h"

#include "kernels/blocks.h"

#include <array>
#include <numeric>
#include <vector>

namespace bitcycle {
namespace {

constexpr std::int64_t kBlock = 65536;  // large enough to be worth a thread
constexpr std::size_t kLanes = 8;       // sums side by side, so that additions need not wait

double block_sum(std::span<const float> x) {
  std::array<double, kLanes> sums{};
  const std::size_t whole = x.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = x[i + lane];
      sums[lane] += value * value;
    }
  }
  for (std::size_t i = whole; i < x.size(); ++i) {
    const double value = x[i];
    sums[i - whole] += value * value;
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

double sum_of_squares(std::span<const float> x) {
  const auto count = static_cast<std::int64_t>(x.size());
  std::vector<double> parts(static_cast<std::size_t>(block_count(count, kBlock)));
  for_each_block(count, kBlock, [&](Block block) {
    const auto begin = static_cast<std::size_t>(block.begin);
    parts[static_cast<std::size_t>(block.index)] =
        block_sum(x.subspan(begin, static_cast<std::size_t>(block.size())));
  });
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

}  // namespace bitcycle
