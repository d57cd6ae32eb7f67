#pragma once

// LibTorch tensors as the integer kernels' views.

#include "bitcycle/kernels/integer/tensor.h"
#include "bitcycle/quant/torch.h"

#include <vector>

namespace bitcycle {

// A channels-last half or float tensor, or nothing when it is undefined.
inline integer::RealView view_of(const at::Tensor& x) {
  if (!x.defined()) return {};
  if (x.scalar_type() == at::kFloat) return {x.data_ptr<float>()};
  return {reinterpret_cast<const integer::Half*>(x.data_ptr<at::Half>())};
}

inline integer::MutableReal mutable_view_of(const at::Tensor& x) {
  if (!x.defined()) return {};
  if (x.scalar_type() == at::kFloat) return {x.data_ptr<float>()};
  return {reinterpret_cast<integer::Half*>(x.data_ptr<at::Half>())};
}

// Those images of a larger tensor, which begins where `x` does.
inline integer::RealView view_of(const at::Tensor& x, const std::vector<int>* rows) {
  integer::RealView view = view_of(x);
  if (rows != nullptr) view.rows = rows->data();
  return view;
}
inline integer::MutableReal mutable_view_of(const at::Tensor& x, const std::vector<int>* rows) {
  integer::MutableReal view = mutable_view_of(x);
  if (rows != nullptr) view.rows = rows->data();
  return view;
}

// The grid of a [batch, channels, height, width] tensor.
inline integer::CodeGrid grid_of(const at::Tensor& x, int halo = 0) {
  return {static_cast<int>(x.size(0)), static_cast<int>(x.size(2)), static_cast<int>(x.size(3)),
          static_cast<int>(x.size(1)), halo};
}

}  // namespace bitcycle
