#pragma once

// The driver of Note [Winograd]: when it is used, what its sums start from, and how images are cut
// into tiles.

#include "kernels/integer/gather/gather_plan.h"
#include "kernels/integer/isa/aligned.h"

#include <cstdint>
#include <vector>

namespace bitcycle::integer {

// Whether `kernels` can do it and all sums fit.
bool suits_winograd(const Gather& call, const WinogradKernels& kernels);

// What is taken off codes to have them around 0: M of the note.
constexpr int middle_code(const CodeParams& params) {
  return 1 << (params.bits - 1);
}

// Where each group of channels ends: as many slices as fit 16 bits.
std::vector<int> winograd_groups(const WinogradTaps& taps, const CodeParams& params);

// What the sums of each group start from, [group][panel][2][2][16][2].
std::vector<std::int16_t> winograd_start(const PackedTaps& taps, std::span<const int> groups,
                                         const CodeParams& params);

// What the sums of all channels start from where they are wide, [panel][2][2][16].
std::vector<std::int32_t> winograd_wide_start(const PackedTaps& taps, const CodeParams& params);

// Kept per thread.
struct WinogradScratch {
  AlignedBuffer<std::uint8_t> points;
  AlignedBuffer<std::int32_t> sums;
};

// A few rows of tiles, all pixels of which are multiplied in one go. Rows of all images of a parcel
// follow each other.
class TileBand {
 public:
  TileBand(const Gather& call, const PhasePlan& phase, const WinogradKernels& kernels,
           const std::uint8_t* codes, WinogradScratch& scratch);

  int pixels() const { return rows_ * row_pixels(); }
  // Moves to the band that starts with a pixel; the last one may have fewer.
  void move_to(int first, int pixels);
  // The sums of a panel, [pixel][16].
  const std::int32_t* multiply(int panel) const;

 private:
  int columns() const { return phase_.columns / 2; }
  int row_pixels() const { return 2 * phase_.columns; }

  const Gather& call_;
  const PhasePlan& phase_;
  const WinogradKernels& kernels_;
  const std::uint8_t* codes_;
  int rows_;
  int tiles_ = 0;
  std::ptrdiff_t row_bytes_;  // of a point
  std::ptrdiff_t point_bytes_;
  std::uint8_t* points_;
  std::int32_t* sums_;
};

}  // namespace bitcycle::integer
