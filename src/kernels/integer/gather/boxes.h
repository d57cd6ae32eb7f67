#pragma once

// Boxes: what the codes under all taps of a pixel add up to, or allow, shared by all output
// channels.

#include "kernels/integer/gather/gather_plan.h"

#include <algorithm>

namespace bitcycle::integer {

// to[i] = the join of `taps` values that start at from[i] and lie `pitch` apart.
template <typename T, typename Join>
void join_taps(const T* from, std::ptrdiff_t pitch, int taps, std::ptrdiff_t count, T* to,
               Join join) {
  if (taps == 3) {  // apart, as most are
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      to[i] = join(join(from[i], from[i + pitch]), from[i + 2 * pitch]);
    }
    return;
  }
  if (taps == 0) std::fill_n(to, count, T{0});
  if (taps > 0) std::copy_n(from, count, to);
  for (int t = 1; t < taps; ++t) {
    for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = join(to[i], from[i + t * pitch]);
  }
}

// Joins the k x k windows of a plane of pixels, columns first. Planes of stride 1 are joined as one
// long row: what reaches over the end of a row is left out in the end.
template <typename T, typename Join>
void join_boxes(const T* plane, const CodeGrid& grid, const PhasePlan& phase, T* columns, T* boxes,
                Join join) {
  const Taps& ty = phase.taps->y;
  const Taps& tx = phase.taps->x;
  const std::ptrdiff_t width = grid.width + 2 * grid.halo;
  const int at_once = ty.source_step == 1 ? phase.rows : 1;
  const std::ptrdiff_t size = at_once * width;
  T* joined = columns + size + tx.count;
  for (int i = 0; i < phase.rows; i += at_once) {
    join_taps(plane + (i * ty.source_step + ty.origin) * width, width, ty.count, size, columns,
              join);
    join_taps(columns + tx.origin, 1, tx.count, size - tx.origin - std::max(tx.count - 1, 0),
              joined, join);
    for (int y = i; y < i + at_once; ++y, boxes += phase.columns) {
      const T* row = joined + (y - i) * width;
      for (int x = 0; x < phase.columns; ++x) boxes[x] = row[std::ptrdiff_t{x} * tx.source_step];
    }
  }
}

// What join_boxes needs for its columns.
inline std::size_t box_scratch(const CodeGrid& grid, const PhasePlan& phase) {
  const std::ptrdiff_t plane =
      std::ptrdiff_t{grid.width + 2 * grid.halo} * (grid.height + 2 * grid.halo);
  return static_cast<std::size_t>(2 * plane + phase.taps->x.count);
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
