#include "kernels/integer/gather/parcel.h"

#include "kernels/integer/gather/boxes.h"

#include <algorithm>
#include <numeric>

namespace bitcycle::integer {
namespace {

// A counting sort.
LevelOrder order_blocks(const std::uint8_t* levels, int pixels, int block) {
  LevelOrder order;
  std::uint8_t highest[kChunkPixels];
  std::array<int, kLevels> next{};
  const int blocks = (pixels + block - 1) / block;
  for (int b = 0; b < blocks; ++b, levels += block) {
    std::uint8_t level = levels[0];
    for (int p = 1; p < block; ++p) level = std::max(level, levels[p]);
    highest[b] = level;
    ++next[level];
  }
  if (next[0] == blocks) {
    order.end.fill(blocks);
    std::iota(order.blocks.begin(), order.blocks.begin() + blocks, std::uint8_t{0});
    return order;
  }
  std::partial_sum(next.begin(), next.end(), order.end.begin());
  for (std::size_t level = 0; level < kLevels; ++level)
    next[level] = order.end[level] - next[level];
  for (int b = 0; b < blocks; ++b) {
    order.blocks[static_cast<std::size_t>(next[highest[b]]++)] = static_cast<std::uint8_t>(b);
  }
  return order;
}

}  // namespace

Parcel::Parcel(const Gather& call, const GatherPlan& plan, const Microkernels& table,
               ParcelScratch& scratch, int index, const std::uint8_t* codes)
    : call_(call),
      plan_(plan),
      table_(table),
      scratch_(scratch),
      images_(std::min(plan.parcel, call.grid.batch - index * plan.parcel)),
      codes_(codes) {}

void Parcel::survey() {
  const auto pixels = static_cast<int>(plane_pixels() * images_);
  const auto size = static_cast<std::size_t>(pixels);
  const int zero = call_.params.zero_point;
  const int channels = call_.grid.channels;
  if (has_levels()) {
    const bool differences = plan_.arithmetic == Arithmetic::signed_levels;
    const auto bytes = static_cast<std::size_t>(images_ * call_.grid.image_bytes()) + kCodeSlack;
    table_.survey({.codes = codes_,
                   .pixels = pixels,
                   .channels = channels,
                   .zero = zero,
                   .limit = (differences ? signed_limit : unsigned_limit)(call_.weight_bits),
                   .row_pixels = call_.row_pixels(),
                   .levels = scratch_.pixel_levels.reserve(size),
                   .differences = differences ? scratch_.differences.reserve(bytes) : nullptr,
                   .sums = scratch_.pixel_sums.reserve(size)});
  } else if (needs_int_boxes()) {
    table_.pixel_sums(codes_, pixels, channels, scratch_.pixel_sums.reserve(size));
  }
  if (!call_.box_weights.empty()) {
    table_.weighted_pixel_sums(codes_, pixels, channels, zero, call_.box_weights.data(),
                               scratch_.weighted_sums.reserve(size));
  }
}

void Parcel::fill(const PhasePlan& phase) {
  const auto count = static_cast<std::size_t>(images_) * phase.pixels() + kMaxPixels;
  const std::size_t room = box_scratch(call_.grid, phase);
  std::int32_t* ints = scratch_.int_boxes.reserve(count);
  float* boxes = scratch_.boxes.reserve(count);
  for (int n = 0; n < images_; ++n) {
    const std::ptrdiff_t first = std::ptrdiff_t{n} * phase.pixels();
    if (needs_int_boxes()) {
      box_sums(scratch_.pixel_sums.data() + n * plane_pixels(), call_.grid, phase,
               scratch_.int_columns.reserve(room), ints + first);
    }
    if (!call_.box_weights.empty()) {
      box_sums(scratch_.weighted_sums.data() + n * plane_pixels(), call_.grid, phase,
               scratch_.columns.reserve(room), boxes + first);
    }
  }
  correct_boxes(phase, ints, boxes);
  if (has_levels()) fill_levels(phase);
}

void Parcel::correct_boxes(const PhasePlan& phase, std::int32_t* ints, float* boxes) const {
  const std::int32_t zero = call_.params.zero_point * phase.taps->products();
  const int pixels = images_ * phase.pixels();
  if (call_.box_weights.empty()) {
    for (int i = 0; i < pixels; ++i) boxes[i] = static_cast<float>(ints[i] - zero);
  }
  if (plan_.arithmetic == Arithmetic::signed_levels) {
    // sum c (u - z) = sum (c + h)(u - z) - h sum (u - z), with weights raised by h
    const std::int32_t half = 1 << (call_.weight_bits - 1);
    for (int i = 0; i < pixels; ++i) ints[i] = -half * (ints[i] - zero);
  }
}

// A block has the highest level under any tap of any of its pixels.
void Parcel::fill_levels(const PhasePlan& phase) {
  const int pixels = images_ * phase.pixels();
  const std::size_t room = box_scratch(call_.grid, phase);
  std::uint8_t* levels = scratch_.levels.reserve(static_cast<std::size_t>(pixels) + kMaxPixels);
  for (int n = 0; n < images_; ++n) {
    box_highest(scratch_.pixel_levels.data() + n * plane_pixels(), call_.grid, phase,
                scratch_.level_columns.reserve(room), levels + std::ptrdiff_t{n} * phase.pixels());
  }
  std::fill_n(levels + pixels, kMaxPixels, std::uint8_t{0});
  scratch_.order.clear();
  for (int i = 0; i < pixels; i += kChunkPixels) {
    scratch_.order.push_back(
        order_blocks(levels + i, std::min(kChunkPixels, pixels - i), table_.level_pixels));
  }
}

}  // namespace bitcycle::integer
