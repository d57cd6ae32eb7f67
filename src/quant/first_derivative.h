#pragma once

// Our own backward passes are no graph: a second derivative through them would silently lack terms.

#include "bitcycle/base/error.h"
#include "bitcycle/quant/torch.h"

namespace bitcycle {

// To be called in a backward pass, which runs with gradients on only for create_graph.
inline void expect_first_derivative() {
  if (!at::GradMode::is_enabled()) return;
  throw Error(
      ErrorCode::usage,
      "fused units have no second derivative: expected a backward pass without create_graph",
      "Use create_graph=false, or float layers of LibTorch where second derivatives pass.");
}

}  // namespace bitcycle
