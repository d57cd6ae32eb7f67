#pragma once

// Gradients of weights sum over the batch, and libraries split that sum by threads. To keep the
// result independent of the number of threads, the batch is cut into shards by its size alone; every
// shard is computed by one thread and the shards are added in order.

#include <algorithm>
#include <vector>

#include "bitcycle/quant/torch.h"

namespace bitcycle {

// At most 16 shards of at least 8 samples.
inline std::int64_t shard_size(std::int64_t batch) {
  return std::max<std::int64_t>(8, (batch + 15) / 16);
}

// Sum over the shards of gradient(first sample, number of samples), which must run on one thread
// when called inside a parallel region (all LibTorch operations do).
template <typename Gradient>
at::Tensor sum_over_shards(std::int64_t batch, const Gradient& gradient) {
  const std::int64_t size = shard_size(batch), shards = (batch + size - 1) / size;
  std::vector<at::Tensor> parts(shards);
  at::parallel_for(0, shards, 1, [&](std::int64_t begin, std::int64_t end) {
    const at::NoGradGuard no_grad;  // grad mode is per thread
    for (std::int64_t i = begin; i < end; ++i) {
      parts[i] = gradient(i * size, std::min(size, batch - i * size));
    }
  });
  for (std::int64_t i = 1; i < shards; ++i) parts[0].add_(parts[i]);
  return parts[0];
}

}  // namespace bitcycle
