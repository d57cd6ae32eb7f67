#pragma once

#include "bitcycle/kernels/finite.h"

#include "quant/dense.h"

namespace bitcycle {

// Whether all values are finite; waits for the device.
inline bool finite_tensor(const at::Tensor& x) {
  const bool plain = x.is_cpu() && x.scalar_type() == at::kFloat;
  return plain ? all_finite(values(dense(x))) : x.isfinite().all().item<bool>();
}

}  // namespace bitcycle
