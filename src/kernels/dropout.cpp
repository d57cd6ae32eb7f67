#include "bitcycle/kernels/dropout.h"

#include "kernels/blocks.h"
#include "kernels/elementwise.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bitcycle {

DropRate drop_rate(double probability) {
  assert(probability >= 0.0 && probability < 1.0);
  constexpr double kSteps = 65536.0;
  const double threshold = std::min(std::nearbyint(probability * kSteps), kSteps - 1);
  return {static_cast<std::uint32_t>(threshold), static_cast<float>(kSteps / (kSteps - threshold))};
}

void drop_out(std::span<const float> x, DropRate rate, NoiseKey key, std::int64_t first,
              std::span<float> out) {
  assert(x.size() == out.size() && first % 2 == 0);
  constexpr std::int64_t kBlock = 16384;  // even, as the pairing of the random bits needs
  const auto& kernels = elementwise_kernels();
  for_each_block(static_cast<std::int64_t>(x.size()), kBlock, [&](Block block) {
    kernels.drop_out(x.data() + block.begin, block.size(), rate, key, first + block.begin,
                     out.data() + block.begin);
  });
}

}  // namespace bitcycle
