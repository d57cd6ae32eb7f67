#pragma once

// How a depthwise gather is cut into blocks, and what it says to the kernels about them.

#include "kernels/integer/gather_plan.h"
#include "kernels/integer/streaming.h"

#include <algorithm>
#include <limits>

namespace bitcycle::integer {

// Pixels of a block in one phase: their sums, the rows under their taps and their results stay in
// the first-level cache from one panel to the next.
inline constexpr int kDepthwisePixels = 64;

// Whole rows, or a part of a long one. Phases that share rows are taken together, so that what the
// block writes to a row of the output is one piece.
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
  // In elements of the output.
  std::ptrdiff_t start_of(int r) const {
    const PhasePlan& phase = phases.front();
    return phase.targets[static_cast<std::size_t>(first_pixel(phase) + r * phase.columns)];
  }
  std::ptrdiff_t row_elements() const {
    std::ptrdiff_t pixels = 0;
    for (const PhasePlan& phase : phases) pixels += columns_of(phase);
    return pixels * phases.front().taps->out_channels;
  }
  std::ptrdiff_t elements() const { return start_of(rows - 1) - start_of(0) + row_elements(); }
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
      (std::int64_t{call.codes.params.levels()} << (call.weight_bits - 1)) * taps.taps();
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
  job.box_zero = call.codes.params.zero_point * taps.taps();
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

// The rows of the source that follow those of a job, as many as it moves on by.
inline RowsAhead rows_ahead(const DepthwiseJob& job, int panels) {
  const std::ptrdiff_t bytes = job.rows * job.source_step * job.row_bytes;
  const std::ptrdiff_t shared = (job.tap_rows - job.source_step) * job.row_bytes;
  return {job.source + job.offsets[0] + bytes + shared, bytes, panels};
}

}  // namespace bitcycle::integer
