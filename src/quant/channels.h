#pragma once

// Statistics and sums per channel of pictures, for norms that are made of tensor operations. On the
// CPU they do not depend on the number of threads.

#include "bitcycle/kernels/batch_norm.h"
#include "bitcycle/quant/torch.h"

#include "quant/dense.h"
#include "quant/weight_gradient.h"

namespace bitcycle {

// A value per channel, as an operand beside [samples, channels, height, width].
inline at::Tensor per_channel(const at::Tensor& values) {
  return values.view({1, -1, 1, 1});
}

inline at::Tensor channel_sums(const at::Tensor& x) {
  return sum_over_shards(x.size(0), [&](std::int64_t first, std::int64_t count) {
    return x.narrow(0, first, count).sum({0, 2, 3});
  });
}

inline std::int64_t values_per_channel(const at::Tensor& x) {
  return x.numel() / x.size(1);
}

struct ChannelMoments {
  at::Tensor mean, variance;  // biased
};

// Of a dense tensor.
inline ChannelMoments channel_moments(const at::Tensor& x) {
  if (!x.is_cpu() || x.scalar_type() != at::kFloat) {
    return {x.mean({0, 2, 3}), x.var({0, 2, 3}, /*unbiased=*/false)};
  }
  const ChannelStatistics found = channel_statistics(values(x), {values_per_channel(x), x.size(1)});
  const auto tensor = [](const std::vector<float>& v) {
    return at::tensor(at::ArrayRef<float>(v), at::kFloat);
  };
  return {tensor(found.mean), tensor(found.variance)};
}

}  // namespace bitcycle
