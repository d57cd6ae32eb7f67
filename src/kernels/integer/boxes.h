#pragma once

// Boxes: what the codes under all taps of a pixel add up to, or allow, shared by all output
// channels.

#include "kernels/integer/gather_plan.h"

#include <algorithm>

namespace bitcycle::integer {

template <typename T, typename Join>
void join_strided(const T* from, int step, int count, T* to, Join join) {
  if (step == 1) {  // apart, so that it is vectorized
    for (int j = 0; j < count; ++j) to[j] = join(to[j], from[j]);
  } else {
    for (int j = 0; j < count; ++j) to[j] = join(to[j], from[std::ptrdiff_t{j} * step]);
  }
}

// Joins the k x k windows of a plane of pixels, columns first.
template <typename T, typename Join>
void join_boxes(const T* plane, const CodeGrid& grid, const PhasePlan& phase, T* columns, T* boxes,
                Join join) {
  const Taps& ty = phase.taps->y;
  const Taps& tx = phase.taps->x;
  const int width = grid.width + 2 * grid.halo;
  for (int i = 0; i < phase.rows; ++i) {
    const T* row = plane + std::ptrdiff_t{i * ty.source_step + ty.origin} * width;
    std::fill_n(columns, width, T{0});
    for (int r = 0; r < ty.count; ++r, row += width) join_strided(row, 1, width, columns, join);
    T* out = boxes + std::ptrdiff_t{i} * phase.columns;
    std::fill_n(out, phase.columns, T{0});
    for (int t = 0; t < tx.count; ++t) {
      join_strided(columns + tx.origin + t, tx.source_step, phase.columns, out, join);
    }
  }
}

// Float sums are taken in one fixed order, so they are the same on every instruction set.
template <typename T>
void box_sums(const T* plane, const CodeGrid& grid, const PhasePlan& phase, T* columns, T* boxes) {
  join_boxes(plane, grid, phase, columns, boxes, [](T a, T b) { return a + b; });
}

inline void box_highest(const std::uint8_t* plane, const CodeGrid& grid, const PhasePlan& phase,
                        std::uint8_t* columns, std::uint8_t* boxes) {
  join_boxes(plane, grid, phase, columns, boxes,
             [](std::uint8_t a, std::uint8_t b) { return std::max(a, b); });
}

}  // namespace bitcycle::integer
