// Weights to codes: SBM with one range an output channel, shifted to signed codes.

#include "kernels/integer/weights/weights.h"

#include "bitcycle/kernels/finite.h"
#include "bitcycle/kernels/integer/domain.h"

#include "kernels/integer/weights/ends.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

namespace bitcycle::integer {
namespace {

constexpr float kSmallestScale = 1e-8f;  // keeps constant channels exact, as SBM does

void check(ConvShape s) {
  s.width = 1;  // weights serve pictures of any width
  expect_taken(s);
}

// The taps and channel counts of each gather; the codes come with every quantize().
void plan(ConvWeights::State& state) {
  const ConvShape& s = state.shape;
  state.forward.y = state.forward.x = forward_taps(s.kernel, s.stride);
  state.forward.in_channels = s.in_channels;
  state.forward.out_channels = s.out_channels;
  state.backward.resize(static_cast<std::size_t>(s.stride) * s.stride);
  for (int phase = 0; phase < s.stride * s.stride; ++phase) {
    PackedTaps& packed = state.backward[static_cast<std::size_t>(phase)];
    packed.y = backward_taps(s.kernel, s.stride, phase / s.stride);
    packed.x = backward_taps(s.kernel, s.stride, phase % s.stride);
    packed.in_channels = s.out_channels;
    packed.out_channels = s.in_channels;
  }
}

}  // namespace

WeightScale quantize_weights(std::span<const float> weights, int bits, std::int8_t* codes) {
  const Range known = ends_of(weights);
  const Range range = finite(known) ? known : Range{0, 0};
  const auto levels = static_cast<float>((1 << bits) - 1);
  const auto half = static_cast<float>(1 << (bits - 1));
  // Note [Poison]: a weight that is not finite makes its channel's output NaN.
  const float scale =
      finite(known) ? std::max((range.high - range.low) / levels, kSmallestScale) : kNaN;
  microkernels().linear->weight_codes(weights.data(), static_cast<int>(weights.size()), range.low,
                                      scale, levels, half, codes);
  return {scale, range.low / scale + half};
}

ConvWeights::ConvWeights(const ConvShape& shape) : state_(std::make_unique<State>()) {
  check(shape);
  state_->shape = shape;
  state_->scales.resize(static_cast<std::size_t>(shape.out_channels));
  state_->offsets.resize(static_cast<std::size_t>(shape.out_channels));
  state_->codes.resize(static_cast<std::size_t>(shape.weights()));
  plan(*state_);
}

ConvWeights::~ConvWeights() = default;
ConvWeights::ConvWeights(ConvWeights&&) noexcept = default;
ConvWeights& ConvWeights::operator=(ConvWeights&&) noexcept = default;

int ConvWeights::bits() const {
  return state_->bits;
}
std::span<const float> ConvWeights::scales() const {
  return state_->scales;
}
std::span<const float> ConvWeights::offsets() const {
  return state_->offsets;
}
std::span<const std::int8_t> ConvWeights::codes() const {
  return state_->codes;
}

void ConvWeights::quantize(std::span<const float> weights, int bits) {
  State& state = *state_;
  const ConvShape& shape = state.shape;
  assert(bits >= kMinBits && bits <= kMaxBits);
  assert(static_cast<std::int64_t>(weights.size()) == shape.weights());
  state.bits = bits;
  const std::size_t each = weights.size() / static_cast<std::size_t>(shape.out_channels);
#pragma omp parallel for schedule(static)
  for (int o = 0; o < shape.out_channels; ++o) {
    const auto c = static_cast<std::size_t>(o);
    const WeightScale scale =
        quantize_weights(weights.subspan(c * each, each), bits, state.codes.data() + c * each);
    state.scales[c] = scale.scale;
    state.offsets[c] = scale.offset;
  }
  if (shape.depthwise()) {
    pack_depthwise(state, state.forward);
    for (PackedTaps& phase : state.backward) pack_depthwise(state, phase);
  } else if (shape.groups == 1) {
    pack_dense(state, Direction::forward, state.forward);
    // On every set: a gather may run on another one than packed its weights (ScopedIsa).
    pack_winograd(state, state.forward);
    state.has_backward_tiles = false;
    for (PackedTaps& phase : state.backward) pack_dense(state, Direction::backward, phase);
  }
}

}  // namespace bitcycle::integer
