#pragma once

// What a parcel of images needs besides its dot products: the box sums of its codes, and the levels
// that they allow.

#include "kernels/integer/gather/winograd.h"
#include "kernels/integer/isa/aligned.h"

#include <array>
#include <cstdint>
#include <vector>

namespace bitcycle::integer {

// Pixels that are multiplied and then stored in one go: enough for channel constants and statistics
// to pay, few enough for their sums to stay in the first-level cache.
inline constexpr int kChunkPixels = 96;

// The blocks of a chunk by level: those of level l are blocks[end[l - 1]] to blocks[end[l] - 1].
struct LevelOrder {
  std::array<std::uint8_t, kChunkPixels> blocks;
  std::array<int, kLevels> end;
};

// Kept per thread.
struct ParcelScratch {
  AlignedBuffer<std::int32_t> pixel_sums;
  AlignedBuffer<float> weighted_sums;
  AlignedBuffer<std::int32_t> int_boxes;
  AlignedBuffer<std::int32_t> int_columns;
  AlignedBuffer<float> boxes;
  AlignedBuffer<float> columns;
  AlignedBuffer<std::uint8_t> differences;
  AlignedBuffer<std::uint8_t> pixel_levels;
  AlignedBuffer<std::uint8_t> level_columns;
  AlignedBuffer<std::uint8_t> levels;
  std::vector<LevelOrder> order;  // [chunk]
  WinogradScratch winograd;
};

class Parcel {
 public:
  Parcel(const Gather& call, const GatherPlan& plan, const Microkernels& table,
         ParcelScratch& scratch, int index, const std::uint8_t* codes);

  int images() const { return images_; }
  const std::uint8_t* codes() const { return codes_; }
  bool has_levels() const { return plan_.has_levels(); }
  // The operand of the dot products at a level.
  const std::uint8_t* source(int level) const {
    return plan_.arithmetic == Arithmetic::signed_levels && level < kWideLevel
               ? scratch_.differences.data()
               : codes_;
  }

  // Reads the codes once, before any phase.
  void survey();
  // Works out what follows for the pixels of a phase.
  void fill(const PhasePlan& phase);
  const float* boxes() const { return scratch_.boxes.data(); }
  // Where the sums of a chunk's pixels start, with signed levels.
  const std::int32_t* start(int first) const { return scratch_.int_boxes.data() + first; }
  const LevelOrder& order(int chunk) const {
    return scratch_.order[static_cast<std::size_t>(chunk)];
  }

 private:
  std::ptrdiff_t plane_pixels() const { return call_.grid.image_bytes() / call_.grid.channels; }
  bool needs_int_boxes() const {
    return call_.box_weights.empty() || plan_.arithmetic == Arithmetic::signed_levels;
  }
  void correct_boxes(const PhasePlan& phase, std::int32_t* ints, float* boxes) const;
  void fill_levels(const PhasePlan& phase);

  const Gather& call_;
  const GatherPlan& plan_;
  const Microkernels& table_;
  ParcelScratch& scratch_;
  int images_;
  const std::uint8_t* codes_;
};

}  // namespace bitcycle::integer
