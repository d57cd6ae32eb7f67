#pragma once

// What a group of images needs besides its dot products: the box sums of its codes, and the levels
// that they allow.

#include "kernels/integer/aligned.h"
#include "kernels/integer/gather_plan.h"

#include <cstdint>

namespace bitcycle::integer {

// Kept per thread.
struct GroupScratch {
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
};

class Group {
 public:
  Group(const Gather& call, const GatherPlan& plan, const Microkernels& table,
        GroupScratch& scratch, int index);

  int images() const { return images_; }
  const std::uint8_t* codes() const { return codes_; }
  bool has_levels() const { return plan_.arithmetic != Arithmetic::chained; }
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
  const std::int32_t* pixel_int() const { return scratch_.int_boxes.data(); }
  // Of every block of `level_pixels` pixels.
  const std::uint8_t* levels() const { return scratch_.levels.data(); }

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
  GroupScratch& scratch_;
  int images_;
  const std::uint8_t* codes_;
};

}  // namespace bitcycle::integer
