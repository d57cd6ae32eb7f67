// Packing: weight codes in the order in which the dot products read them.

#include "kernels/integer/weights.h"

#include <algorithm>
#include <cstring>

namespace bitcycle::integer {
namespace {

// One kernel tap's codes [out][in] at kernel position (ky, kx).
struct TapCodes {
  const std::int8_t* data;
  std::ptrdiff_t out_stride;

  TapCodes(const ConvWeights::State& state, int ky, int kx)
      : data(state.codes.data() +
             std::ptrdiff_t{ky * state.shape.kernel + kx} * state.shape.group_inputs()),
        out_stride(std::ptrdiff_t{state.shape.kernel} * state.shape.kernel *
                   state.shape.group_inputs()) {}
  std::int8_t operator()(int out, int in) const { return data[out * out_stride + in]; }
};

// Byte `j` of a row of taps goes to lane `channel` of step j / 4.
std::ptrdiff_t panel_index(int j, int channel) {
  return (j / 4) * kStepBytes + channel * 4 + j % 4;
}

// Reads run along the codes' innermost dimension (the layer's inputs) in both directions.
void pack_tap(const TapCodes& tap, Direction direction, int first_byte, PackedTaps& packed,
              std::int8_t* row) {
  const int outs = direction == Direction::forward ? packed.out_channels : packed.in_channels;
  const int ins = direction == Direction::forward ? packed.in_channels : packed.out_channels;
  const std::ptrdiff_t panel_bytes = packed.panel_bytes();
  for (int o = 0; o < outs; ++o) {
    for (int i = 0; i < ins; ++i) {
      const int channel = direction == Direction::forward ? o : i;
      const int j = first_byte + (direction == Direction::forward ? i : o);
      const std::int8_t code = tap(o, i);
      row[(channel / kPanel) * panel_bytes + panel_index(j, channel % kPanel)] = code;
      packed.code_sums[static_cast<std::size_t>(channel)] += code;
    }
  }
}

}  // namespace

void pack_dense(const ConvWeights::State& state, Direction direction, PackedTaps& packed) {
  const auto bytes = static_cast<std::size_t>(panels_of(packed.out_channels)) *
                     static_cast<std::size_t>(packed.panel_bytes());
  std::int8_t* panels = packed.panels.reserve(bytes);
  std::memset(panels, 0, bytes);
  packed.code_sums.assign(static_cast<std::size_t>(padded(packed.out_channels)), 0);
  for (int r = 0; r < packed.y.count; ++r) {
    std::int8_t* row = panels + std::ptrdiff_t{r} * packed.row_steps() * kStepBytes;
    for (int t = 0; t < packed.x.count; ++t) {
      const TapCodes tap(state, packed.y.first + r * packed.y.step,
                         packed.x.first + t * packed.x.step);
      pack_tap(tap, direction, t * packed.in_channels, packed, row);
    }
  }
}

void pack_depthwise(const ConvWeights::State& state, PackedTaps& packed) {
  const int channels = packed.out_channels;
  const int pairs = (packed.taps() + 1) / 2;
  const std::size_t count = static_cast<std::size_t>(padded(channels)) * pairs * 2;
  std::int16_t* out = packed.pairs.reserve(count);
  std::fill_n(out, count, std::int16_t{0});
  packed.code_sums.assign(static_cast<std::size_t>(padded(channels)), 0);
  for (int t = 0; t < packed.taps(); ++t) {
    const TapCodes tap(state, packed.y.first + (t / packed.x.count) * packed.y.step,
                       packed.x.first + (t % packed.x.count) * packed.x.step);
    for (int c = 0; c < channels; ++c) {
      const std::int16_t code = tap(c, 0);
      out[(((c / kPanel) * pairs + t / 2) * kPanel + c % kPanel) * 2 + t % 2] = code;
      packed.code_sums[static_cast<std::size_t>(c)] += code;
    }
  }
}

}  // namespace bitcycle::integer
