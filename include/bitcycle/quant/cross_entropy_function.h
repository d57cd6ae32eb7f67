#pragma once

#include "bitcycle/quant/torch.h"

#include <optional>

namespace bitcycle {

// Mean cross entropy in nats of scores [rows, classes] against targets [rows], over those that are
// not `ignored`. As LibTorch's, in fewer passes (bitcycle/kernels/cross_entropy.h).
at::Tensor mean_cross_entropy(const at::Tensor& scores, const at::Tensor& targets,
                              std::optional<std::int64_t> ignored = {});

}  // namespace bitcycle
