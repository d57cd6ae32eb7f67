#include "kernels/integer/gather/winograd.h"

#include <algorithm>
#include <limits>

namespace bitcycle::integer {
namespace {

// Tiles of a band: enough for a panel's weights to pay when they are read, few enough for points
// and sums to stay in the first-level cache.
constexpr int kBandTiles = 16;

constexpr int kMost16Bits = std::numeric_limits<std::int16_t>::max();

bool has_whole_tiles(int pixels) {
  return pixels % 2 == 0 && pixels >= 4;
}

// Of a lane's sum of magnitudes.
int lane_limit(const CodeParams& params) {
  return kMost16Bits / (4 * middle_code(params));
}

// The starts of the slices [from, to), [panel][2][2][16][2]: 4 times M for every code, and what
// the raise has added.
std::vector<std::int32_t> lane_starts(const PackedTaps& taps, std::size_t from, std::size_t to,
                                      const CodeParams& params) {
  const int raise = 2 * params.largest_code();
  const int middle = middle_code(params);
  const WinogradTaps& winograd = taps.winograd;
  const auto size = static_cast<std::size_t>(padded(taps.out_channels)) * 2 * kTileOutputs;
  std::vector<std::int32_t> start(size, 0);
  for (std::size_t slice = from; slice < to; ++slice) {
    const std::int32_t* sums = winograd.lane_sums.data() + slice * size;
    const std::int32_t* raised = winograd.raised_sums.data() + slice * size;
    for (std::size_t i = 0; i < size; ++i) start[i] += raise * raised[i] - 4 * middle * sums[i];
  }
  return start;
}

bool sums_fit(const WinogradTaps& taps, const CodeParams& params) {
  return largest_code_point(params.bits) * taps.largest_pair <= kMost16Bits &&
         std::ranges::max(taps.largest_lanes) <= lane_limit(params);
}

}  // namespace

bool suits_winograd(const Gather& call, const WinogradKernels& kernels) {
  const CodeParams& params = call.params;
  const WinogradTaps& taps = call.phases.front().winograd;
  return kernels.multiply != nullptr && taps.packed && params.bits <= kWinogradCodeBits &&
         has_whole_tiles(call.out_height) && has_whole_tiles(call.out_width) &&
         (kernels.sums == TileSums::wide ? taps.has_bytes() : sums_fit(taps, params));
}

std::vector<int> winograd_groups(const WinogradTaps& taps, const CodeParams& params) {
  std::vector<int> ends;
  int lane = 0;
  int channels = 0;
  for (const int largest : taps.largest_lanes) {
    if (lane + largest > lane_limit(params)) {
      ends.push_back(channels);
      lane = 0;
    }
    lane += largest;
    channels += kSliceChannels;
  }
  ends.push_back(channels);
  return ends;
}

std::vector<std::int16_t> winograd_start(const PackedTaps& taps, std::span<const int> groups,
                                         const CodeParams& params) {
  std::vector<std::int16_t> start;
  std::size_t slice = 0;
  for (const int end : groups) {
    const auto last = static_cast<std::size_t>(end / kSliceChannels);
    for (const std::int32_t lane : lane_starts(taps, slice, last, params)) {
      start.push_back(static_cast<std::int16_t>(lane));  // wraps around, as the sums do
    }
    slice = last;
  }
  return start;
}

std::vector<std::int32_t> winograd_wide_start(const PackedTaps& taps, const CodeParams& params) {
  const std::vector<std::int32_t> lanes =
      lane_starts(taps, 0, taps.winograd.largest_lanes.size(), params);
  std::vector<std::int32_t> start;
  for (std::size_t i = 0; i < lanes.size(); i += 2) start.push_back(lanes[i] + lanes[i + 1]);
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
    kernels_.transform({.source = codes_ + phase_.map->sources[pixel],
                        .row_bytes = call_.grid.row_bytes(),
                        .channels = call_.grid.channels,
                        .tiles = columns(),
                        .raise = 2 * call_.params.largest_code(),
                        .points = points_ + row * row_bytes_,
                        .point_bytes = point_bytes_});
  }
}

const std::int32_t* TileBand::multiply(int panel) const {
  const std::ptrdiff_t panel_bytes = std::ptrdiff_t{kPoints} * call_.grid.channels * kPanel;
  kernels_.multiply(
      {.points = points_,
       .point_bytes = point_bytes_,
       .channels = call_.grid.channels,
       .tiles = tiles_,
       .columns = columns(),
       .panel = phase_.taps->winograd.panels.data() + panel * panel_bytes,
       .groups = phase_.winograd_groups,
       .start = phase_.winograd_start.data() + panel * kTileOutputs * kLanes,
       .group_start = panels_of(phase_.taps->out_channels) * kTileOutputs * kLanes,
       .wide_start = phase_.winograd_wide_start.data() + panel * kTileOutputs * kPanel,
       .sums = sums_});
  return sums_;
}

}  // namespace bitcycle::integer
