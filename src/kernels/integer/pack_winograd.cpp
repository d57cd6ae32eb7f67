// The points of weights for Note [Winograd].

#include "kernels/integer/weights.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace bitcycle::integer {
namespace {

constexpr int kSide = 3;  // of the kernel
constexpr int kTaps = kSide * kSide;
constexpr int kSliceChannels = 16;
using Slice = std::array<std::int8_t, kSliceChannels>;

// 2 G times three taps.
std::array<Slice, 4> transform(const Slice& a, const Slice& b, const Slice& c) {
  std::array<Slice, 4> points;
  for (std::size_t i = 0; i < kSliceChannels; ++i) {
    points[0][i] = static_cast<std::int8_t>(2 * a[i]);
    points[1][i] = static_cast<std::int8_t>(a[i] + b[i] + c[i]);
    points[2][i] = static_cast<std::int8_t>(a[i] - b[i] + c[i]);
    points[3][i] = static_cast<std::int8_t>(2 * c[i]);
  }
  return points;
}

// 16 channels, whose codes under tap 0 are given, into one lane of their steps under point 0.
void pack_slice(const std::int8_t* codes, int channels, std::int8_t* steps) {
  const auto tap = [&](int y, int x) {
    Slice slice;
    std::copy_n(codes + (y * kSide + x) * channels, kSliceChannels, slice.begin());
    return slice;
  };
  std::array<std::array<Slice, 4>, kSide> columns;
  for (int x = 0; x < kSide; ++x)
    columns[std::size_t(x)] = transform(tap(0, x), tap(1, x), tap(2, x));
  for (std::size_t y = 0; y < 4; ++y) {
    for (const Slice& point : transform(columns[0][y], columns[1][y], columns[2][y])) {
      for (int step = 0; step < kSliceChannels / 4; ++step) {
        std::memcpy(steps + step * kStepBytes, point.data() + step * 4, 4);
      }
      steps += channels * kPanel;
    }
  }
}

// The sums under each tap for the two 16-bit lanes of an output; answers their largest sum of
// magnitudes.
int sum_lanes(const std::int8_t* codes, int channels, std::int32_t* sums) {
  int magnitudes[2] = {};
  for (int tap = 0; tap < kTaps; ++tap, codes += channels, sums += kLanes) {
    int low = 0, high = 0;
    for (int c = 0; c < channels; c += 4) {
      low += codes[c] + codes[c + 1];
      high += codes[c + 2] + codes[c + 3];
      magnitudes[0] += std::abs(codes[c]) + std::abs(codes[c + 1]);
      magnitudes[1] += std::abs(codes[c + 2]) + std::abs(codes[c + 3]);
    }
    sums[0] = low;
    sums[1] = high;
  }
  return std::max(magnitudes[0], magnitudes[1]);
}

// One output channel; answers as sum_lanes does.
int pack_output(const ConvWeights::State& state, int out, WinogradTaps& taps) {
  const int channels = state.shape.in_channels;
  const std::int8_t* codes = state.codes.data() + std::ptrdiff_t{out} * kTaps * channels;
  const std::ptrdiff_t panel = out / kPanel;
  const int lane = out % kPanel;
  std::int8_t* steps = taps.panels.data() + panel * kPoints * channels * kPanel + lane * 4;
  for (int c = 0; c < channels; c += kSliceChannels) {
    pack_slice(codes + c, channels, steps + c * kPanel);
  }
  return sum_lanes(codes, channels, taps.tap_sums.data() + panel * kTaps * kLanes + lane * 2);
}

}  // namespace

void pack_winograd(const ConvWeights::State& state, PackedTaps& packed) {
  const ConvShape& s = state.shape;
  WinogradTaps& taps = packed.winograd;
  taps.packed = s.kernel == kSide && s.stride == 1 && winograd_channels(s.in_channels) &&
                state.bits <= kWinogradWeightBits;
  if (!taps.packed) return;
  const auto lanes = static_cast<std::size_t>(padded(s.out_channels)) * 2;
  const std::size_t bytes = lanes / 2 * kPoints * static_cast<std::size_t>(s.in_channels);
  std::memset(taps.panels.reserve(bytes), 0, bytes);
  taps.tap_sums.assign(lanes * kTaps, 0);
  int largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (int out = 0; out < s.out_channels; ++out) {
    largest = std::max(largest, pack_output(state, out, taps));
  }
  taps.largest_lane = largest;
}

}  // namespace bitcycle::integer
