#pragma once

// The ends of a range of floats, or kPoisoned, in one thread and one pass.

#include "bitcycle/kernels/finite.h"

#include "kernels/integer/isa/microkernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace bitcycle::integer {

// Taken by columns of an imagined matrix, whose loop is vectorized and sums up on the way: a sum in
// double precision is finite if and only if all floats in it are.
inline Range ends_of(std::span<const float> x) {
  constexpr int kColumns = 64;
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  double sums[kColumns] = {};
  float low[kColumns], high[kColumns];
  std::fill_n(low, kColumns, kInfinite);
  std::fill_n(high, kColumns, -kInfinite);
  const LinearKernels& kernels = *microkernels().linear;
  const auto rows = static_cast<int>(x.size() / kColumns);
  const auto whole = static_cast<std::size_t>(rows) * kColumns;
  kernels.column_stats(x.data(), kColumns, rows, kColumns, sums, low, high);
  kernels.column_stats(x.data() + whole, 0, 1, static_cast<int>(x.size() - whole), sums, low, high);
  double sum = 0;
  for (const double part : sums) sum += part;
  if (!std::isfinite(sum) || x.empty()) return kPoisoned;
  return {*std::min_element(low, low + kColumns), *std::max_element(high, high + kColumns)};
}

}  // namespace bitcycle::integer
