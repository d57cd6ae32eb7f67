#pragma once

// The packed form of a layer's weights, shared by the convolution drivers.

#include "bitcycle/kernels/integer/conv.h"

#include "kernels/integer/isa/aligned.h"
#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/weights/taps.h"

#include <algorithm>
#include <span>
#include <vector>

namespace bitcycle::integer {

constexpr int panels_of(int channels) {
  return (channels + kPanel - 1) / kPanel;
}
constexpr int padded(int channels) {
  return panels_of(channels) * kPanel;
}
// One value a channel, and `otherwise` for the channels that fill up the last panel.
inline std::vector<float> to_panels(std::span<const float> values, int channels,
                                    float otherwise = 0.0f) {
  std::vector<float> out(static_cast<std::size_t>(padded(channels)), otherwise);
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

// Quantizes the weights of one output channel: SBM codes p in [0, n], stored as p - 2^(bits-1).
struct WeightScale {
  float scale, offset;
};
WeightScale quantize_weights(std::span<const float> weights, int bits, std::int8_t* codes);

// The weights of a 3x3 convolution of stride 1 for Note [Winograd].
struct WinogradTaps {
  static constexpr int kNoBytes = 1 << 15;

  bool packed = false;                // at this width
  AlignedBuffer<std::int8_t> panels;  // [panel][point][step][16][4]
  // What starts of sums are made of, [slice][panel][2][2][16][2]: of a lane's codes the sum, and
  // the sum less 4 times that under the image by which raised points differ.
  std::vector<std::int32_t> lane_sums, raised_sums;
  std::vector<int> largest_lanes;  // sum of magnitudes, [slice]
  int largest_pair = 0;  // sum of the magnitudes of neighbouring points; kNoBytes: see has_bytes

  // Whether all points are bytes.
  bool has_bytes() const { return largest_pair < kNoBytes; }
};

// The weights as one gather (forward, or one phase of backward-data) needs them.
struct PackedTaps {
  Taps y;
  Taps x;
  int in_channels = 0;   // of the gathered codes
  int out_channels = 0;  // of the result
  // Dense: [panel][row of taps][step][16][4], rows padded to whole steps with zeros.
  AlignedBuffer<std::int8_t> panels;
  // The same raised by 2^(bits-1) to unsigned numbers, for signed sources; padding stays zero. Only
  // of widths that have levels, see Note [Exact dot products].
  AlignedBuffer<std::int8_t> raised;
  // Depthwise, the forms of DepthwiseJob, by panel.
  AlignedBuffer<std::int8_t> quads;
  AlignedBuffer<std::int16_t> pairs;
  AlignedBuffer<std::int16_t> singles;
  mutable WinogradTaps winograd;  // of backward-data once it is asked for
  std::vector<std::int32_t>
      code_sums;  // over all taps and inputs, per output channel, padded to 16

  int taps() const { return y.count * x.count; }
  bool has_quads() const { return y.count <= kQuad; }
  int row_bytes() const { return x.count * in_channels; }
  int row_steps() const { return (row_bytes() + 3) / 4; }
  int steps() const { return y.count * row_steps(); }
  int products() const { return y.count * row_bytes(); }
  std::ptrdiff_t panel_bytes() const { return std::ptrdiff_t{steps()} * kStepBytes; }
};

struct ConvWeights::State {
  ConvShape shape;
  int bits = kMaxBits;
  std::vector<float> scales;
  std::vector<float> offsets;
  std::vector<std::int8_t> codes;
  PackedTaps forward;
  std::vector<PackedTaps> backward;  // [stride * phase_y + phase_x]
  mutable bool has_backward_tiles = false;
};

// The widths of weights at which some gather may have levels: those that can cut chains of 8-bit
// codes more often than every kLongChain steps.
constexpr bool has_levels(int weight_bits) {
  return chain_length(kMaxBits, weight_bits) < kLongChain;
}

// Fill `packed` (whose taps and channels are set) from the codes of `state`.
enum class Direction { forward, backward };
void pack_dense(const ConvWeights::State& state, Direction direction, PackedTaps& packed);
void pack_winograd(const ConvWeights::State& state, PackedTaps& packed);
// The same for backward-data, unless it has been done: few errors go by tiles. For the thread that
// starts a call, before others read the weights.
void pack_backward_winograd(const ConvWeights::State& state);
void pack_depthwise(const ConvWeights::State& state, PackedTaps& packed);

}  // namespace bitcycle::integer
