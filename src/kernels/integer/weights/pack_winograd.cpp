// The points of weights for Note [Winograd].

#include "kernels/integer/weights/weights.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

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

// The sums of a slice under each tap for the two 16-bit lanes of an output.
struct LaneSums {
  int taps[2][kTileTaps] = {};
  int magnitudes[2] = {};

  LaneSums(const std::int8_t* codes, int channels) {
    for (int tap = 0; tap < kTileTaps; ++tap, codes += channels) {
      for (int c = 0; c < kSliceChannels; ++c) {
        taps[c / 2 % 2][tap] += codes[c];
        magnitudes[c / 2 % 2] += std::abs(codes[c]);
      }
    }
  }
  int total(int lane) const { return std::accumulate(taps[lane], taps[lane] + kTileTaps, 0); }
  // Under the image d d^T of Note [Winograd], as it lies above the taps of one of the outputs.
  int under_raised(int lane, int output) const {
    static constexpr int kRaised[4] = {2, 0, 1, -1};
    int sum = 0;
    for (int tap = 0; tap < kTileTaps; ++tap) {
      sum +=
          taps[lane][tap] * kRaised[output / 2 + tap / kSide] * kRaised[output % 2 + tap % kSide];
    }
    return sum;
  }
};

// Saves what starts are made of; answers the largest sum of magnitudes.
int save_sums(const LaneSums& sums, std::int32_t* lane_sums, std::int32_t* raised_sums) {
  for (int lane = 0; lane < 2; ++lane) {
    const int total = sums.total(lane);
    for (int output = 0; output < kTileOutputs; ++output) {
      const std::ptrdiff_t at = output * kLanes + lane;
      lane_sums[at] = total;
      raised_sums[at] = total - 4 * sums.under_raised(lane, output);
    }
  }
  return std::max(sums.magnitudes[0], sums.magnitudes[1]);
}

// One channel of the results, whose codes are [tap][gathered channel], with the largest lane of
// each slice; answers the largest pair.
int pack_output(const std::int8_t* codes, const PackedTaps& packed, int out, int* largest_lanes) {
  WinogradTaps& taps = packed.winograd;
  const int channels = packed.in_channels;
  const std::ptrdiff_t panels = panels_of(packed.out_channels);
  const std::ptrdiff_t panel = out / kPanel;
  const int lane = out % kPanel;
  std::int8_t* steps = taps.panels.data() + panel * kPoints * channels * kPanel + lane * 4;
  std::ptrdiff_t at = panel * kTileOutputs * kLanes + lane * 2;
  int largest = 0;
  for (int c = 0; c < channels; c += kSliceChannels, at += panels * kTileOutputs * kLanes) {
    largest = std::max(largest, pack_slice(codes + c, channels, steps + c * kPanel));
    *largest_lanes++ = save_sums(LaneSums(codes + c, channels), taps.lane_sums.data() + at,
                                 taps.raised_sums.data() + at);
  }
  return largest;
}

bool goes_by_tiles(const ConvWeights::State& state, const PackedTaps& packed) {
  return state.shape.kernel == kSide && state.shape.stride == 1 &&
         winograd_channels(packed.in_channels) && state.bits <= kWinogradWeightBits;
}

// codes(result, room) gives those of one channel of the results, [tap][gathered channel], in the
// room or elsewhere.
template <typename CodesOf>
void pack_tiles(const PackedTaps& packed, const CodesOf& codes_of) {
  WinogradTaps& taps = packed.winograd;
  taps.packed = true;
  const auto slices = static_cast<std::size_t>(packed.in_channels / kSliceChannels);
  const auto lanes = static_cast<std::size_t>(padded(packed.out_channels)) * 2;
  const std::size_t bytes = lanes / 2 * kPoints * static_cast<std::size_t>(packed.in_channels);
  std::memset(taps.panels.reserve(bytes), 0, bytes);
  taps.lane_sums.assign(slices * lanes * kTileOutputs, 0);
  taps.raised_sums.assign(slices * lanes * kTileOutputs, 0);
  std::vector<int> magnitudes(slices * static_cast<std::size_t>(packed.out_channels));
  int pair = 0;
#pragma omp parallel reduction(max : pair)
  {
    std::vector<std::int8_t> room(static_cast<std::size_t>(kTileTaps * packed.in_channels));
#pragma omp for schedule(static)
    for (int out = 0; out < packed.out_channels; ++out) {
      int* own = magnitudes.data() + static_cast<std::size_t>(out) * slices;
      pair = std::max(pair, pack_output(codes_of(out, room.data()), packed, out, own));
    }
  }
  taps.largest_pair = pair;
  taps.largest_lanes.assign(slices, 0);
  for (std::size_t i = 0; i < magnitudes.size(); ++i) {
    int& largest = taps.largest_lanes[i % slices];
    largest = std::max(largest, magnitudes[i]);
  }
}

// The codes of an input as backward-data gathers them: [tap, the last first][out].
const std::int8_t* turned(const ConvWeights::State& state, int input, std::int8_t* room) {
  const int in = state.shape.in_channels, out = state.shape.out_channels;
  for (int tap = 0; tap < kTileTaps; ++tap) {
    const std::int8_t* from = state.codes.data() + std::ptrdiff_t{tap} * in + input;
    std::int8_t* to = room + std::ptrdiff_t{kTileTaps - 1 - tap} * out;
    for (int o = 0; o < out; ++o) to[o] = from[std::ptrdiff_t{o} * kTileTaps * in];
  }
  return room;
}

}  // namespace

void pack_winograd(const ConvWeights::State& state, PackedTaps& packed) {
  packed.winograd.packed = false;
  if (!goes_by_tiles(state, packed)) return;
  pack_tiles(packed, [&](int out, std::int8_t*) {
    return state.codes.data() + std::ptrdiff_t{out} * kTileTaps * packed.in_channels;
  });
}

void pack_backward_winograd(const ConvWeights::State& state) {
  if (state.has_backward_tiles) return;
  const PackedTaps& packed = state.backward.front();
  packed.winograd.packed = false;
  if (goes_by_tiles(state, packed)) {
    pack_tiles(packed, [&](int out, std::int8_t* room) { return turned(state, out, room); });
  }
  state.has_backward_tiles = true;
}

}  // namespace bitcycle::integer
