#pragma once

#include "bitcycle/quant/torch.h"

#include <span>

namespace bitcycle {

// Moves batch norm's running statistics as LibTorch does: by the batch's mean and its unbiased
// variance. `variance` is biased, over `count` values a channel.
inline void track_statistics(torch::nn::BatchNorm2dImpl& norm, std::span<const float> mean,
                             std::span<const float> variance, std::int64_t count) {
  if (!norm.options.track_running_stats()) return;
  const torch::NoGradGuard no_grad;
  const auto tensor = [](std::span<const float> values) {
    return at::from_blob(const_cast<float*>(values.data()),
                         {static_cast<std::int64_t>(values.size())});
  };
  norm.num_batches_tracked.add_(1);
  const double momentum = norm.options.momentum().value_or(
      1.0 / static_cast<double>(norm.num_batches_tracked.item<std::int64_t>()));
  const double unbiased = count > 1 ? static_cast<double>(count) / (count - 1.0) : 1.0;
  norm.running_mean.mul_(1 - momentum).add_(tensor(mean), momentum);
  norm.running_var.mul_(1 - momentum).add_(tensor(variance), momentum * unbiased);
}

}  // namespace bitcycle
