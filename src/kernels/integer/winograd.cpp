#include "kernels/integer/winograd.h"

#include <algorithm>
#include <limits>

namespace bitcycle::integer {
namespace {

// Tiles of a band: enough for a panel's weights to pay when they are read, few enough for points
// and sums to stay in the first-level cache.
constexpr int kBandTiles = 16;

bool has_whole_tiles(int pixels) {
  return pixels % 2 == 0 && pixels >= 4;
}

}  // namespace

bool suits_winograd(const Gather& call, const WinogradKernels& kernels) {
  const CodeParams& params = call.params;
  const WinogradTaps& taps = call.phases.front().winograd;
  return kernels.multiply != nullptr && taps.packed && params.bits <= kWinogradCodeBits &&
         has_whole_tiles(call.out_height) && has_whole_tiles(call.out_width) &&
         4 * middle_code(params) * taps.largest_lane <= std::numeric_limits<std::int16_t>::max();
}

std::vector<std::int16_t> winograd_start(const WinogradTaps& taps, const CodeParams& params) {
  static constexpr int kRaised[4] = {2, 0, 1, -1};
  constexpr int kTaps = 9;
  constexpr int kOutputs = 4;
  const int raise = 2 * params.levels();
  const int middle = middle_code(params);
  std::vector<std::int16_t> start(taps.tap_sums.size() / kTaps * kOutputs);
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::size_t lane = i % kLanes;
    const int output = static_cast<int>(i / kLanes % kOutputs);
    const std::int32_t* sums = taps.tap_sums.data() + i / (kLanes * kOutputs) * kTaps * kLanes;
    std::int32_t excess = 0;
    for (int tap = 0; tap < kTaps; ++tap) {
      const int image = kRaised[output / 2 + tap / 3] * kRaised[output % 2 + tap % 3];
      excess += sums[static_cast<std::size_t>(tap) * kLanes + lane] * (raise * image + middle);
    }
    start[i] = static_cast<std::int16_t>(-4 * excess);
  }
  return start;
}

TileBand::TileBand(const Gather& call, const PhasePlan& phase, const WinogradKernels& kernels,
                   const std::uint8_t* codes, WinogradScratch& scratch)
    : call_(call),
      phase_(phase),
      kernels_(kernels),
      codes_(codes),
      rows_(std::max(1, kBandTiles / columns())),
      row_bytes_(std::ptrdiff_t{columns()} * call.grid.channels),
      point_bytes_(rows_ * row_bytes_),
      points_(scratch.points.reserve(static_cast<std::size_t>(kPoints * point_bytes_))),
      sums_(scratch.sums.reserve(static_cast<std::size_t>(pixels()) * kPanel)) {}

void TileBand::move_to(int first, int pixels) {
  const int rows = pixels / row_pixels();
  tiles_ = rows * columns();
  for (int row = 0; row < rows; ++row) {
    const auto pixel = static_cast<std::size_t>(first + row * row_pixels());
    kernels_.transform({.source = codes_ + phase_.sources[pixel],
                        .row_bytes = call_.grid.row_bytes(),
                        .channels = call_.grid.channels,
                        .tiles = columns(),
                        .raise = 2 * call_.params.levels(),
                        .points = points_ + row * row_bytes_,
                        .point_bytes = point_bytes_});
  }
}

const std::int32_t* TileBand::multiply(int panel) const {
  const std::ptrdiff_t panel_bytes = std::ptrdiff_t{kPoints} * call_.grid.channels * kPanel;
  kernels_.multiply({.points = points_,
                     .point_bytes = point_bytes_,
                     .channels = call_.grid.channels,
                     .tiles = tiles_,
                     .columns = columns(),
                     .panel = phase_.taps->winograd.panels.data() + panel * panel_bytes,
                     .start = phase_.winograd_start.data() + panel * 4 * kLanes,
                     .sums = sums_});
  return sums_;
}

}  // namespace bitcycle::integer
