// The points of weights for Note [Winograd].

#include "kernels/integer/weights/weights.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace bitcycle::integer {
namespace {

constexpr int kSide = 3;  // of the kernel
static_assert(kTileTaps == kSide * kSide);
using Slice = std::array<std::int16_t, kSliceChannels>;

// 2 G times three taps.
std::array<Slice, 4> transform(const Slice& a, const Slice& b, const Slice& c) {
  std::array<Slice, 4> points;
  for (std::size_t i = 0; i < kSliceChannels; ++i) {
    points[0][i] = static_cast<std::int16_t>(2 * a[i]);
    points[1][i] = static_cast<std::int16_t>(a[i] + b[i] + c[i]);
    points[2][i] = static_cast<std::int16_t>(a[i] - b[i] + c[i]);
    points[3][i] = static_cast<std::int16_t>(2 * c[i]);
  }
  return points;
}

// The largest points of a slice, and the largest sums of neighbours; of those that start at odd
// channels none is asked for.
struct Magnitudes {
  Slice points{}, pairs{};

  void add(const Slice& point) {
    std::array<std::int16_t, kSliceChannels + 1> sizes{};
    for (std::size_t i = 0; i < kSliceChannels; ++i) {
      sizes[i] = std::max<std::int16_t>(point[i], static_cast<std::int16_t>(-point[i]));
      points[i] = std::max(points[i], sizes[i]);
    }
    for (std::size_t i = 0; i < kSliceChannels; ++i) {
      pairs[i] = std::max(pairs[i], static_cast<std::int16_t>(sizes[i] + sizes[i + 1]));
    }
  }
  // Beyond all limits where a point is no byte.
  int largest_pair() const {
    if (std::ranges::max(points) > std::numeric_limits<std::int8_t>::max())
      return WinogradTaps::kNoBytes;
    int largest = 0;
    for (std::size_t i = 0; i < kSliceChannels; i += 2) largest = std::max<int>(largest, pairs[i]);
    return largest;
  }
};

void save_bytes(const Slice& point, std::int8_t* steps) {
  std::array<std::int8_t, kSliceChannels> bytes;
  std::ranges::transform(point, bytes.begin(),
                         [](std::int16_t value) { return static_cast<std::int8_t>(value); });
  for (int step = 0; step < kSliceChannels / 4; ++step) {
    std::memcpy(steps + step * kStepBytes, bytes.data() + step * 4, 4);
  }
}

// A slice, whose codes under tap 0 are given, into one lane of its steps under point 0; answers the
// largest pair.
int pack_slice(const std::int8_t* codes, int channels, std::int8_t* steps) {
  const auto tap = [&](int y, int x) {
    Slice slice;
    std::copy_n(codes + (y * kSide + x) * channels, kSliceChannels, slice.begin());
    return slice;
  };
  std::array<std::array<Slice, 4>, kSide> columns;
  for (int x = 0; x < kSide; ++x)
    columns[std::size_t(x)] = transform(tap(0, x), tap(1, x), tap(2, x));
  Magnitudes magnitudes;
  for (std::size_t y = 0; y < 4; ++y) {
    for (const Slice& point : transform(columns[0][y], columns[1][y], columns[2][y])) {
      magnitudes.add(point);
      save_bytes(point, steps);
      steps += channels * kPanel;
    }
  }
  return magnitudes.largest_pair();
}

// The sums of a slice under each tap for the two 16-bit lanes of an output; answers their largest
// sum of magnitudes.
int sum_lanes(const std::int8_t* codes, int channels, std::int16_t* sums) {
  int magnitudes[2] = {};
  for (int tap = 0; tap < kTileTaps; ++tap, codes += channels, sums += kLanes) {
    int low = 0, high = 0;
    for (int c = 0; c < kSliceChannels; c += 4) {
      low += codes[c] + codes[c + 1];
      high += codes[c + 2] + codes[c + 3];
      magnitudes[0] += std::abs(codes[c]) + std::abs(codes[c + 1]);
      magnitudes[1] += std::abs(codes[c + 2]) + std::abs(codes[c + 3]);
    }
    sums[0] = static_cast<std::int16_t>(low);
    sums[1] = static_cast<std::int16_t>(high);
  }
  return std::max(magnitudes[0], magnitudes[1]);
}

// One channel of the results, with the largest lane of each slice; answers the largest pair.
int pack_output(const std::int8_t* all_codes, const PackedTaps& packed, int out,
                int* largest_lanes) {
  WinogradTaps& taps = packed.winograd;
  const int channels = packed.in_channels;
  const std::ptrdiff_t panels = panels_of(packed.out_channels);
  const std::ptrdiff_t panel = out / kPanel;
  const int lane = out % kPanel;
  const std::int8_t* codes = all_codes + std::ptrdiff_t{out} * kTileTaps * channels;
  std::int8_t* steps = taps.panels.data() + panel * kPoints * channels * kPanel + lane * 4;
  std::int16_t* sums = taps.tap_sums.data() + panel * kTileTaps * kLanes + lane * 2;
  int largest = 0;
  for (int c = 0; c < channels; c += kSliceChannels, sums += panels * kTileTaps * kLanes) {
    largest = std::max(largest, pack_slice(codes + c, channels, steps + c * kPanel));
    *largest_lanes++ = sum_lanes(codes + c, channels, sums);
  }
  return largest;
}

bool goes_by_tiles(const ConvWeights::State& state, const PackedTaps& packed) {
  return state.shape.kernel == kSide && state.shape.stride == 1 &&
         winograd_channels(packed.in_channels) && state.bits <= kWinogradWeightBits;
}

// From codes [result][tap][gathered channel].
void pack_tiles(const std::int8_t* codes, const PackedTaps& packed) {
  WinogradTaps& taps = packed.winograd;
  taps.packed = true;
  const auto slices = static_cast<std::size_t>(packed.in_channels / kSliceChannels);
  const auto lanes = static_cast<std::size_t>(padded(packed.out_channels)) * 2;
  const std::size_t bytes = lanes / 2 * kPoints * static_cast<std::size_t>(packed.in_channels);
  std::memset(taps.panels.reserve(bytes), 0, bytes);
  taps.tap_sums.assign(slices * lanes * kTileTaps, 0);
  std::vector<int> magnitudes(slices * static_cast<std::size_t>(packed.out_channels));
  int pair = 0;
#pragma omp parallel for schedule(static) reduction(max : pair)
  for (int out = 0; out < packed.out_channels; ++out) {
    int* own = magnitudes.data() + static_cast<std::size_t>(out) * slices;
    pair = std::max(pair, pack_output(codes, packed, out, own));
  }
  taps.largest_pair = pair;
  taps.largest_lanes.assign(slices, 0);
  for (std::size_t i = 0; i < magnitudes.size(); ++i) {
    int& largest = taps.largest_lanes[i % slices];
    largest = std::max(largest, magnitudes[i]);
  }
}

// The codes as backward-data gathers them: [in][tap, the last first][out].
std::vector<std::int8_t> turned(const ConvWeights::State& state) {
  const int in = state.shape.in_channels, out = state.shape.out_channels;
  std::vector<std::int8_t> codes(state.codes.size());
  for (int o = 0; o < out; ++o) {
    for (int tap = 0; tap < kTileTaps; ++tap) {
      const std::int8_t* from = state.codes.data() + (std::ptrdiff_t{o} * kTileTaps + tap) * in;
      std::int8_t* to = codes.data() + std::ptrdiff_t{kTileTaps - 1 - tap} * out + o;
      for (int i = 0; i < in; ++i) to[std::ptrdiff_t{i} * kTileTaps * out] = from[i];
    }
  }
  return codes;
}

}  // namespace

void pack_winograd(const ConvWeights::State& state, PackedTaps& packed) {
  packed.winograd.packed = false;
  if (goes_by_tiles(state, packed)) pack_tiles(state.codes.data(), packed);
}

void pack_backward_winograd(const ConvWeights::State& state) {
  if (state.has_backward_tiles) return;
  const PackedTaps& packed = state.backward.front();
  packed.winograd.packed = false;
  if (goes_by_tiles(state, packed)) pack_tiles(turned(state).data(), packed);
  state.has_backward_tiles = true;
}

}  // namespace bitcycle::integer
