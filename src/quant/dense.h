#pragma once

// Tensors as spans of floats. Pictures are kept in channels-last order throughout the torch layer,
// so the memory order of a dense 4-dimensional tensor is NHWC.

#include "bitcycle/quant/torch.h"

#include <span>

namespace bitcycle {

// The memory order that the torch layer keeps tensors of this many dimensions in.
inline at::MemoryFormat memory_order(const at::Tensor& x) {
  return x.dim() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
}

// `x` itself when it is dense in that order, else a copy.
inline at::Tensor dense(const at::Tensor& x) {
  return x.contiguous(memory_order(x));
}

inline std::span<float> values(at::Tensor& x) {
  return {x.data_ptr<float>(), static_cast<std::size_t>(x.numel())};
}
inline std::span<const float> values(const at::Tensor& x) {
  return {x.data_ptr<float>(), static_cast<std::size_t>(x.numel())};
}

}  // namespace bitcycle
