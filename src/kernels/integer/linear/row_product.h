#pragma once

// Rows of codes times packed panels: the driver that the forward product and the gradient of the
// input share.

#include "kernels/integer/linear/panels.h"

#include <span>

namespace bitcycle::integer {

// out[row][lane] = fma(offset[lane], box[row], float(SUM (code - zero point) * panel)) *
// scale[lane], and + shift[lane] where there is a shift. The box of a row is the sum of its
// differences from the zero point, weighed by `box_weights` (padded to panels) where given.
struct RowProduct {
  RowCodes rows;
  const PackedPanels& panels;
  std::span<const float> box_weights;  // may be empty
  std::span<const float> offset;
  std::span<const float> scale;
  std::span<const float> shift;  // may be empty
  std::span<float> out;
};
void multiply(const RowProduct& call);

}  // namespace bitcycle::integer
