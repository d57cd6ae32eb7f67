// Packing: weight codes in the order in which the dot products read them.

#include "kernels/integer/weights/weights.h"

#include <algorithm>
#include <cstring>

namespace bitcycle::integer {
namespace {

// The codes of one output channel under one tap, [in] of them.
const std::int8_t* tap_codes(const ConvWeights::State& state, int out, int ky, int kx) {
  const ConvShape& s = state.shape;
  return state.codes.data() +
         ((std::ptrdiff_t{out} * s.kernel + ky) * s.kernel + kx) * s.group_inputs();
}

// Byte j of a row of taps lies in step j / 4.
std::ptrdiff_t step_byte(int j) {
  return std::ptrdiff_t{j / 4} * kStepBytes + j % 4;
}

// Calls use(row, column, codes) for every tap that a gather has.
template <typename Use>
void each_tap(const ConvWeights::State& state, const PackedTaps& packed, int out, Use use) {
  for (int r = 0; r < packed.y.count; ++r) {
    for (int t = 0; t < packed.x.count; ++t) {
      use(r, t,
          tap_codes(state, out, packed.y.first + r * packed.y.step,
                    packed.x.first + t * packed.x.step));
    }
  }
}

// Forward: output `out` is a lane of a panel, its inputs are the bytes of a row.
void pack_forward(const ConvWeights::State& state, int out, PackedTaps& packed) {
  std::int8_t* lane = packed.panels.data() + out / kPanel * packed.panel_bytes() + out % kPanel * 4;
  std::int32_t sum = 0;
  each_tap(state, packed, out, [&](int r, int t, const std::int8_t* codes) {
    std::int8_t* row = lane + std::ptrdiff_t{r} * packed.row_steps() * kStepBytes;
    for (int i = 0; i < packed.in_channels; ++i) {
      row[step_byte(t * packed.in_channels + i)] = codes[i];
      sum += codes[i];
    }
  });
  packed.code_sums[static_cast<std::size_t>(out)] = sum;
}

// Backward: `out` is a byte of a row, the layer's inputs are the lanes.
void pack_backward(const ConvWeights::State& state, int out, PackedTaps& packed) {
  const std::ptrdiff_t panel_bytes = packed.panel_bytes();
  each_tap(state, packed, out, [&](int r, int t, const std::int8_t* codes) {
    std::int8_t* to = packed.panels.data() + std::ptrdiff_t{r} * packed.row_steps() * kStepBytes +
                      step_byte(t * packed.in_channels + out);
    for (int i = 0; i < packed.out_channels; ++i) {
      to[i / kPanel * panel_bytes + i % kPanel * 4] = codes[i];
    }
  });
}

void sum_backward(const ConvWeights::State& state, PackedTaps& packed) {
  for (int out = 0; out < packed.in_channels; ++out) {
    each_tap(state, packed, out, [&](int, int, const std::int8_t* codes) {
      for (int i = 0; i < packed.out_channels; ++i) packed.code_sums[std::size_t(i)] += codes[i];
    });
  }
}

template <typename T>
T* zeros(AlignedBuffer<T>& buffer, std::size_t count) {
  T* data = buffer.reserve(count);
  std::fill_n(data, count, T{0});
  return data;
}

// Raises one panel.
void raise(const PackedTaps& packed, int half, const std::int8_t* panel, std::int8_t* raised) {
  const int tail = packed.row_bytes() % 4;
  for (int s = 0; s < packed.steps(); ++s, panel += kStepBytes, raised += kStepBytes) {
    for (int i = 0; i < kStepBytes; ++i) raised[i] = static_cast<std::int8_t>(panel[i] + half);
    if (tail == 0 || (s + 1) % packed.row_steps() != 0) continue;
    for (int i = 0; i < kStepBytes; ++i) raised[i] = i % 4 < tail ? raised[i] : std::int8_t{0};
  }
}

}  // namespace

void pack_dense(const ConvWeights::State& state, Direction direction, PackedTaps& packed) {
  const auto bytes = static_cast<std::size_t>(panels_of(packed.out_channels)) *
                     static_cast<std::size_t>(packed.panel_bytes());
  packed.code_sums.assign(static_cast<std::size_t>(padded(packed.out_channels)), 0);
  if (bytes == 0) return;  // a phase that no tap reaches
  std::memset(packed.panels.reserve(bytes), 0, bytes);
  const auto pack = direction == Direction::forward ? pack_forward : pack_backward;
#pragma omp parallel for schedule(static)
  for (int out = 0; out < state.shape.out_channels; ++out) pack(state, out, packed);
  if (direction == Direction::backward) sum_backward(state, packed);
  if (!has_levels(state.bits)) return;
  packed.raised.reserve(bytes);
#pragma omp parallel for schedule(static)
  for (int panel = 0; panel < panels_of(packed.out_channels); ++panel) {
    const std::ptrdiff_t at = panel * packed.panel_bytes();
    raise(packed, 1 << (state.bits - 1), packed.panels.data() + at, packed.raised.data() + at);
  }
}

void pack_depthwise(const ConvWeights::State& state, PackedTaps& packed) {
  const int channels = packed.out_channels;
  const int pairs = (packed.taps() + 1) / 2;
  const std::size_t count = static_cast<std::size_t>(padded(channels)) * pairs * 2;
  std::int16_t* out = zeros(packed.pairs, count);
  std::int16_t* singles = zeros(packed.singles, count);
  std::int8_t* quads = zeros(packed.quads, static_cast<std::size_t>(padded(channels)) * kQuad *
                                               static_cast<std::size_t>(packed.x.count));
  packed.code_sums.assign(static_cast<std::size_t>(padded(channels)), 0);
  for (int c = 0; c < channels; ++c) {
    const int panel = c / kPanel;
    const int lane = c % kPanel;
    each_tap(state, packed, c, [&](int row, int column, const std::int8_t* code) {
      const int t = row * packed.x.count + column;
      out[((panel * pairs + t / 2) * kPanel + lane) * 2 + t % 2] = *code;
      singles[(panel * packed.taps() + t) * kPanel + lane] = *code;
      if (packed.has_quads()) {
        quads[((panel * packed.x.count + column) * kPanel + lane) * kQuad + row] = *code;
      }
      packed.code_sums[static_cast<std::size_t>(c)] += *code;
    });
  }
}

}  // namespace bitcycle::integer
