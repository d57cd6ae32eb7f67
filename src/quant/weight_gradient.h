#pragma once

// Gradients of weights sum over the batch, and libraries split that sum by threads. To keep the
// result independent of the number of threads, the batch is cut into shards by its size alone;
// every shard is computed by one thread and the shards are added in order.

#include "bitcycle/quant/torch.h"

#include "quant/single_thread.h"

#include <algorithm>
#include <vector>

namespace bitcycle {

// At most 16 shards of at least 8 samples.
inline std::int64_t shard_size(std::int64_t batch) {
  return std::max<std::int64_t>(8, (batch + 15) / 16);
}

// Whether threads compute shards side by side, or the calling one computes them all. The sum is the
// same.
enum class Shards { side_by_side, in_turn };

// Sum over the shards of gradient(first sample, number of samples).
template <typename Gradient>
at::Tensor sum_over_shards(std::int64_t batch, const Gradient& gradient,
                           Shards order = Shards::side_by_side) {
  const std::int64_t size = shard_size(batch), shards = (batch + size - 1) / size;
  std::vector<at::Tensor> parts(shards);
  const auto compute = [&](std::int64_t begin, std::int64_t end) {
    const SingleThread single_thread;
    const at::NoGradGuard no_grad;  // grad mode is per thread
    for (std::int64_t i = begin; i < end; ++i) {
      parts[i] = gradient(i * size, std::min(size, batch - i * size));
    }
  };
  if (order == Shards::in_turn) {
    compute(0, shards);
  } else {
    at::parallel_for(0, shards, 1, compute);
  }
  for (std::int64_t i = 1; i < shards; ++i) parts[0].add_(parts[i]);
  return parts[0];
}

}  // namespace bitcycle
