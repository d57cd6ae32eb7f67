#include "bitcycle/kernels/finite.h"

#include "kernels/blocks.h"
#include "kernels/elementwise.h"

#include <atomic>

namespace bitcycle {

bool all_finite(std::span<const float> x) {
  constexpr std::int64_t kBlock = 65536;  // large enough to be worth a thread
  const auto& kernels = elementwise_kernels();
  std::atomic<bool> all = true;
  for_each_block(static_cast<std::int64_t>(x.size()), kBlock, [&](Block block) {
    if (!kernels.finite(x.data() + block.begin, block.size())) all = false;
  });
  return all;
}

}  // namespace bitcycle
