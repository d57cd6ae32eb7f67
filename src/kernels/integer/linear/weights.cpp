// Weights of fully connected layers to codes, and these to panels for both directions.

#include "kernels/integer/weights/weights.h"

#include "kernels/integer/linear/panels.h"

#include <cassert>
#include <cstring>

namespace bitcycle::integer {
namespace {

using State = LinearWeights::State;

void reserve(PackedPanels& packed, Operands operands) {
  packed.operands = operands;
  packed.data.reserve(static_cast<std::size_t>(panels_of(packed.lanes) * packed.panel_bytes()));
  packed.lane_sums.resize(static_cast<std::size_t>(padded(packed.lanes)));
}

std::uint8_t* panel_of(const PackedPanels& packed, int panel) {
  return packed.data.data() + panel * packed.panel_bytes();
}

// A row of codes as the bytes of whole steps.
void fill_row(const std::int8_t* codes, const PackedPanels& packed, std::uint8_t* row) {
  std::memset(row, 0, static_cast<std::size_t>(packed.steps()) * kRowStepBytes);
  if (packed.operands == Operands::bytes) {
    std::memcpy(row, codes, static_cast<std::size_t>(packed.reduced));
    return;
  }
  auto* words = reinterpret_cast<std::int16_t*>(row);
  for (int i = 0; i < packed.reduced; ++i) words[i] = codes[i];
}

// Forward: 16 rows of codes, step by step side by side.
void pack_outputs(const State& state, int panel, std::uint8_t* rows) {
  const PackedPanels& packed = state.forward;
  const int steps = packed.steps();
  const int count = std::min(kPanel, packed.lanes - panel * kPanel);
  const auto row_bytes = static_cast<std::size_t>(steps) * kRowStepBytes;
  std::memset(rows, 0, kPanel * row_bytes);
  for (int i = 0; i < count; ++i) {
    const std::ptrdiff_t out = panel * kPanel + i;
    fill_row(state.codes.data() + out * packed.reduced, packed, rows + std::size_t(i) * row_bytes);
  }
  const auto* from = reinterpret_cast<const std::uint32_t*>(rows);
  auto* to = reinterpret_cast<std::uint32_t*>(panel_of(packed, panel));
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < kPanel; ++i) to[s * kPanel + i] = from[i * steps + s];
  }
}

// Backward: 16 columns of codes. Lanes past the last input hold codes of other rows; nobody reads
// what comes of them.
void pack_inputs(const State& state, int panel) {
  const PackedPanels& packed = state.backward;
  const std::int8_t* codes = state.codes.data() + panel * kPanel;
  std::uint8_t* to = panel_of(packed, panel);
  const Microkernels& table = microkernels();
  if (packed.operands == Operands::bytes) {
    table.interleave(reinterpret_cast<const std::uint8_t*>(codes), state.shape.inputs,
                     packed.reduced, 0, to);
  } else {
    table.linear->interleave_signed(codes, state.shape.inputs, packed.reduced,
                                    reinterpret_cast<std::int16_t*>(to));
  }
}

// A row of ones times the panel.
void sum_lanes(PackedPanels& packed, int panel, AlignedBuffer<std::uint8_t>& ones) {
  if (packed.operands == Operands::words) return;
  const auto bytes = static_cast<std::size_t>(packed.steps()) * kRowStepBytes;
  std::memset(ones.reserve(bytes), 1, bytes);
  microkernels().linear->tile({.rows = ones.data(),
                               .row_stride = 0,
                               .row_count = 1,
                               .panels = panel_of(packed, panel),
                               .panel_stride = 0,
                               .panel_count = 1,
                               .steps = packed.steps(),
                               .add = false,
                               .sums = packed.lane_sums.data() + panel * kPanel,
                               .sum_stride = 0});
}

void quantize_outputs(std::span<const float> weights, State& state, int panel) {
  const auto each = static_cast<std::size_t>(state.shape.inputs);
  const int last = std::min(state.shape.outputs, (panel + 1) * kPanel);
  for (int out = panel * kPanel; out < last; ++out) {
    const auto o = static_cast<std::size_t>(out);
    const WeightScale scale = quantize_weights(weights.subspan(o * each, each), state.bits,
                                               state.codes.data() + o * each);
    state.scales[o] = scale.scale;
    state.offsets[o] = scale.offset;
  }
}

}  // namespace

LinearWeights::LinearWeights(LinearShape shape) : state_(std::make_unique<State>()) {
  assert(shape.inputs > 0 && shape.outputs > 0);
  state_->shape = shape;
  state_->scales.resize(static_cast<std::size_t>(shape.outputs));
  state_->offsets.resize(static_cast<std::size_t>(padded(shape.outputs)));
  state_->codes.resize(static_cast<std::size_t>(shape.weights()) + kCodeSlack);
  state_->forward.lanes = state_->backward.reduced = shape.outputs;
  state_->forward.reduced = state_->backward.lanes = shape.inputs;
}

LinearWeights::~LinearWeights() = default;
LinearWeights::LinearWeights(LinearWeights&&) noexcept = default;
LinearWeights& LinearWeights::operator=(LinearWeights&&) noexcept = default;

void LinearWeights::quantize(std::span<const float> weights, int bits) {
  State& state = *state_;
  assert(bits >= kMinBits && bits <= kMaxBits);
  assert(static_cast<std::int64_t>(weights.size()) == state.shape.weights());
  state.bits = bits;
  const Operands operands = microkernels().linear->operands;
  reserve(state.forward, operands);
  reserve(state.backward, operands);
#pragma omp parallel
  {
    static thread_local AlignedBuffer<std::uint8_t> rows, ones;
    rows.reserve(static_cast<std::size_t>(state.forward.panel_bytes()));
#pragma omp for schedule(static)
    for (int panel = 0; panel < panels_of(state.shape.outputs); ++panel) {
      quantize_outputs(weights, state, panel);
      pack_outputs(state, panel, rows.data());
      sum_lanes(state.forward, panel, ones);
    }
#pragma omp for schedule(static)
    for (int panel = 0; panel < panels_of(state.shape.inputs); ++panel) {
      pack_inputs(state, panel);
      sum_lanes(state.backward, panel, ones);
    }
  }
}

LinearShape LinearWeights::shape() const {
  return state_->shape;
}
int LinearWeights::bits() const {
  return state_->bits;
}
std::span<const float> LinearWeights::scales() const {
  return state_->scales;
}
std::span<const float> LinearWeights::offsets() const {
  return {state_->offsets.data(), state_->scales.size()};
}
std::span<const std::int8_t> LinearWeights::codes() const {
  return {state_->codes.data(), static_cast<std::size_t>(state_->shape.weights())};
}

}  // namespace bitcycle::integer
