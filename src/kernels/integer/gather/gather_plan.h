#pragma once

// What is gathered, and what a gather works out once a call and every thread then reads: where
// pixels lie, how the reduced dimension is cut into segments, and the integer corrections for zero
// points.

#include "kernels/integer/weights/weights.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bitcycle::integer {

// How many images a work item covers: as many as share a partial sum of the statistics, or one, so
// that images may be run in any order.
enum class Parcels { full, single };

struct Gather {
  CodeGrid grid;  // of the gathered codes
  CodeParams params;
  int weight_bits = kMaxBits;
  // Output pixel (y, x) belongs to phase (y % stride, x % stride).
  std::span<const PackedTaps> phases;
  int stride = 1;  // phases.size() == stride * stride
  int out_height = 1;
  int out_width = 1;
  Box box = Box::pixel;
  // Per gathered channel, the weight of its codes in the box sums; empty: 1.
  std::span<const float> box_weights;
  // Per output channel, padded to panels.
  std::span<const float> offsets;
  std::span<const float> scales;
  MutableReal output;
  ChannelStats* stats = nullptr;
  const float* added = nullptr;  // to the results of a parcel, [image][pixel][channel]
  Parcels parcels = Parcels::full;

  // Most pixels under a row of taps.
  int row_pixels() const {
    int pixels = 0;
    for (const PackedTaps& taps : phases) pixels = std::max(pixels, taps.x.count);
    return pixels;
  }
};

// How a gather multiplies; see Note [Exact dot products].
enum class Arithmetic {
  chained,          // codes times weights, chains as long as the weights allow
  unsigned_levels,  // the same at the levels that the codes allow
  signed_levels,    // differences from the zero point times raised weights
  winograd,         // see Note [Winograd]
};

struct PixelMap {
  std::vector<std::int32_t> sources;  // byte offset of each pixel's first tap in a parcel of images
  std::vector<std::int32_t> targets;  // element offset of each pixel in the parcel's output
};

struct PhasePlan {
  const PackedTaps* taps = nullptr;
  int rows = 0;  // output pixels of the phase in one image
  int columns = 0;
  std::shared_ptr<const PixelMap> map;            // plans of several kinds share it
  std::vector<Segment> segments;                  // dense
  std::vector<std::int32_t> tap_bytes;            // depthwise
  std::vector<std::int32_t> channel_int;          // what each channel's sums lack
  std::vector<int> winograd_groups;               // where each group of channels ends
  std::vector<std::int16_t> winograd_start;       // [group][panel][2][2][16][2]
  std::vector<std::int32_t> winograd_wide_start;  // [panel][2][2][16], in place of the two

  int pixels() const { return rows * columns; }
};

struct GatherPlan {
  int parcel = 1;   // images that one work item covers
  int parcels = 1;  // work items
  Arithmetic arithmetic = Arithmetic::chained;
  std::vector<PhasePlan> phases;

  bool has_levels() const {
    return arithmetic == Arithmetic::unsigned_levels || arithmetic == Arithmetic::signed_levels;
  }
};

// `like` may be the plan of a call that differs in its codes' parameters and scales alone.
GatherPlan plan_gather(const Gather& call, const Microkernels& table,
                       const GatherPlan* like = nullptr);

}  // namespace bitcycle::integer
