#pragma once

#include "bitcycle/nn/quant_linear.h"

namespace bitcycle {

// Tells all fully connected layers of a model who computes them.
inline void set_executors(torch::nn::Module& model, Executor executor) {
  for (const auto& module : model.modules(/*include_self=*/false)) {
    if (auto* linear = dynamic_cast<QuantLinearImpl*>(module.get())) linear->set_executor(executor);
  }
}

}  // namespace bitcycle
