#pragma once

// Parameters filled with random numbers by counter.

#include "bitcycle/base/random.h"

#include "quant/dense.h"

namespace bitcycle {

// Both write through a contiguous copy, so that values do not depend on the memory order.
inline void fill_normal(const at::Tensor& parameter, RandomKey key, double deviation) {
  at::Tensor plain = at::empty(parameter.sizes());
  auto out = values(plain);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(deviation * key.normal(i));
  }
  parameter.copy_(plain);
}

inline void fill_uniform(const at::Tensor& parameter, RandomKey key, double bound) {
  at::Tensor plain = at::empty(parameter.sizes());
  auto out = values(plain);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(bound * (2.0 * key.uniform(i) - 1.0));
  }
  parameter.copy_(plain);
}

}  // namespace bitcycle
