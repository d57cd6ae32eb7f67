#pragma once

// How a depthwise gather is cut into blocks, and what it says to the kernels about them.

#include "kernels/integer/gather/gather_plan.h"

#include <algorithm>
#include <limits>

namespace bitcycle::integer {

// Pixels of a block in one phase: their sums, the rows under their taps and their results stay in
// the first-level cache from one panel to the next.
inline constexpr int kDepthwisePixels = 64;

// Whole rows, or a part of a long one. Phases that share rows are taken together, while these are
// in the cache.
struct DepthwiseBlock {
  std::span<const PhasePlan> phases;  // the first has the most columns
  int row;
  int rows;
  int column;
  int columns;  // of the first phase

  int columns_of(const PhasePlan& phase) const {
    return std::clamp(phase.columns - column, 0, columns);
  }
  int first_pixel(const PhasePlan& phase) const { return row * phase.columns + column; }
};

template <typename Use>
void each_depthwise_block(std::span<const PhasePlan> phases, int images, Use use) {
  const PhasePlan& widest = phases.front();
  if (widest.pixels() == 0) return;
  const int rows = images * widest.rows;
  const int at_once = std::max(1, kDepthwisePixels / widest.columns);
  for (int row = 0; row < rows; row += at_once) {
    for (int x = 0; x < widest.columns; x += kDepthwisePixels) {
      use(DepthwiseBlock{phases, row, std::min(at_once, rows - row), x,
                         std::min(kDepthwisePixels, widest.columns - x)});
    }
  }
}

inline DepthwiseJob depthwise_job(const Gather& call, const PhasePlan& phase) {
  const PackedTaps& taps = *phase.taps;
  const std::int64_t largest =
      (std::int64_t{call.params.largest_code()} << (call.weight_bits - 1)) * taps.taps();
  const bool narrow = largest <= std::numeric_limits<std::int16_t>::max();
  DepthwiseJob job{};
  job.source_step = taps.x.source_step;
  job.tap_rows = taps.y.count;
  job.tap_columns = taps.x.count;
  job.row_bytes = call.grid.row_bytes();
  job.pixel_bytes = call.grid.channels;
  job.taps = phase.tap_bytes;
  job.quads = taps.quads.data();
  job.singles = narrow ? taps.singles.data() : nullptr;
  job.pairs = taps.pairs.data();
  job.box_zero = call.params.zero_point * taps.taps();
  return job;
}

inline DepthwiseJob of_panel(DepthwiseJob job, int panel) {
  const auto taps = static_cast<std::ptrdiff_t>(job.taps.size());
  job.source += panel * kPanel;
  job.quads += std::ptrdiff_t{panel} * job.tap_columns * kPanel * kQuad;
  if (job.singles != nullptr) job.singles += panel * taps * kPanel;
  job.pairs += panel * ((taps + 1) / 2) * kPanel * 2;
  return job;
}

}  // namespace bitcycle::integer
