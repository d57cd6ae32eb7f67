#pragma once

// What a gather works out once a call and every thread then reads: where pixels lie, how the
// reduced dimension is cut into segments, and the integer corrections for zero points.

#include "kernels/integer/gather.h"

#include <cstdint>
#include <vector>

namespace bitcycle::integer {

// How a gather multiplies; see Note [Exact dot products].
enum class Arithmetic {
  chained,          // codes times weights, chains as long as their widths allow
  unsigned_levels,  // the same at the levels that the codes allow
  signed_levels,    // differences from the zero point times raised weights
};

struct PhasePlan {
  const PackedTaps* taps = nullptr;
  int rows = 0;  // output pixels of the phase in one image
  int columns = 0;
  std::vector<std::int32_t> sources;  // byte offset of each pixel's first tap in a group of images
  std::vector<std::int32_t> targets;  // element offset of each pixel in the group's output
  std::vector<Segment> segments;      // dense
  std::vector<std::int32_t> tap_bytes;    // depthwise
  std::vector<std::int32_t> channel_int;  // what each channel's sums lack

  int pixels() const { return rows * columns; }
};

struct GatherPlan {
  int group = 1;   // images that one work item covers
  int groups = 1;  // work items
  Arithmetic arithmetic = Arithmetic::chained;
  std::vector<PhasePlan> phases;
};

GatherPlan plan_gather(const Gather& call, bool saturates);

}  // namespace bitcycle::integer
