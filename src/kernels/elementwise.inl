// The loops of elementwise.h. Included by one source file per instruction set, which defines
// BITCYCLE_ELEMENTWISE_TABLE as the name of its table function.
//
// Written so that the compiler vectorizes them without any licence to reorder: min and max as
// conditionals that let a NaN through, sums kept per channel (vectors run along the channels).
// No standard-library templates: their instantiations are shared between source files, and one
// compiled for AVX-512 must never be what the rest of the program runs.

#include "kernels/elementwise.h"
#include "kernels/lstm_loops.h"

#include <cmath>
#include <cstring>

namespace bitcycle {
namespace {

constexpr std::int64_t kLanes = 16;

inline void widen(float value, float& lo, float& hi) {
  lo = value < lo ? value : lo;
  hi = value > hi ? value : hi;
}

Range range(const float* x, std::int64_t count) {
  float lo[kLanes], hi[kLanes];
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    lo[lane] = INFINITY;
    hi[lane] = -INFINITY;
  }
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) widen(x[i + lane], lo[lane], hi[lane]);
  }
  for (; i < count; ++i) widen(x[i], lo[0], hi[0]);
  for (std::int64_t lane = 1; lane < kLanes; ++lane) {
    lo[0] = lo[lane] < lo[0] ? lo[lane] : lo[0];
    hi[0] = hi[lane] > hi[0] ? hi[lane] : hi[0];
  }
  return {lo[0], hi[0]};
}

// 0 times a value that is not finite is NaN, and a NaN stays in a sum.
bool finite(const float* x, std::int64_t count) {
  float zeros[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) zeros[lane] += 0.0f * x[i + lane];
  }
  for (; i < count; ++i) zeros[0] += 0.0f * x[i];
  for (std::int64_t lane = 1; lane < kLanes; ++lane) zeros[0] += zeros[lane];
  return zeros[0] == 0.0f;
}

inline float to_grid(float code, const Grid& grid) {
  const float above = code < 0.0f ? 0.0f : code;
  const float clamped = above > grid.levels ? grid.levels : above;
  return std::nearbyint(clamped) * grid.scale + grid.low;
}

void quantize(const float* x, std::int64_t count, Grid grid, float* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = to_grid((x[i] - grid.low) / grid.scale, grid);
  }
}

constexpr std::int64_t kPairs = 32;

// Note [Rounding noise] gives element i half a word; read as 16-bit numbers, the words lie in
// element order (little-endian, as every supported machine is).
inline void noise_halves(NoiseKey key, std::int64_t first, std::uint16_t* halves) {
  std::uint32_t words[kPairs];
  const auto base = static_cast<std::uint32_t>(first >> 1);
  for (std::uint32_t j = 0; j < kPairs; ++j) words[j] = noise_word(key, base + j);
  std::memcpy(halves, words, sizeof words);
}

void quantize_stochastic(const float* x, std::int64_t count, Grid grid, NoiseKey key,
                         std::int64_t first, float* out) {
  std::uint16_t halves[2 * kPairs];
  for (std::int64_t i = 0; i < count; i += 2 * kPairs) {
    noise_halves(key, first + i, halves);
    const std::int64_t left = count - i;
    const std::int64_t length = left < 2 * kPairs ? left : 2 * kPairs;
    for (std::int64_t j = 0; j < length; ++j) {
      const float u = (static_cast<float>(halves[j]) - 32767.5f) * 0x1p-16f;
      out[i + j] = to_grid((x[i + j] - grid.low) / grid.scale + u, grid);
    }
  }
}

void drop_out(const float* x, std::int64_t count, DropRate rate, NoiseKey key, std::int64_t first,
              float* out) {
  std::uint16_t halves[2 * kPairs];
  for (std::int64_t i = 0; i < count; i += 2 * kPairs) {
    noise_halves(key, first + i, halves);
    const std::int64_t left = count - i;
    const std::int64_t length = left < 2 * kPairs ? left : 2 * kPairs;
    for (std::int64_t j = 0; j < length; ++j) {
      const float kept = halves[j] < rate.threshold ? 0.0f : rate.scale;
      out[i + j] = kept * x[i + j];
    }
  }
}

inline void clear(float* a, float* b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) a[i] = b[i] = 0.0f;
}

void channel_sums(const float* x, std::int64_t pixels, std::int64_t channels, float* sum,
                  float* square) {
  clear(sum, square, channels);
  for (std::int64_t p = 0; p < pixels; ++p, x += channels) {
    for (std::int64_t c = 0; c < channels; ++c) {
      sum[c] += x[c];
      square[c] += x[c] * x[c];
    }
  }
}

template <bool kResidual, bool kRelu>
void scale_shift(const float* x, const float* residual, std::int64_t pixels, std::int64_t channels,
                 const float* scale, const float* shift, float* y) {
  for (std::int64_t p = 0; p < pixels; ++p) {
    const std::int64_t at = p * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      float value = x[at + c] * scale[c] + shift[c];
      if constexpr (kResidual) value += residual[at + c];
      if constexpr (kRelu) value = value < 0.0f ? 0.0f : value;
      y[at + c] = value;
    }
  }
}

void scale_shift_activate(const float* x, const float* residual, std::int64_t pixels,
                          std::int64_t channels, const float* scale, const float* shift,
                          Activation activation, float* y) {
  const bool relu = activation == Activation::relu;
  const auto loop = residual != nullptr
                        ? (relu ? scale_shift<true, true> : scale_shift<true, false>)
                        : (relu ? scale_shift<false, true> : scale_shift<false, false>);
  loop(x, residual, pixels, channels, scale, shift, y);
}

// By what errors are masked.
enum class Masked { nowhere, by_output, by_norm };

Masked masked_by(const ReluMask& mask) {
  if (mask.y != nullptr) return Masked::by_output;
  return mask.scale != nullptr ? Masked::by_norm : Masked::nowhere;
}

// The output by the same operations as scale_shift.
template <Masked kMasked>
inline float masked_error(float error, float x, const ReluMask& mask, std::int64_t at,
                          std::int64_t c) {
  if constexpr (kMasked == Masked::nowhere) return error;
  const float y = kMasked == Masked::by_output ? mask.y[at + c] : x * mask.scale[c] + mask.shift[c];
  return y > 0.0f ? error : 0.0f;
}

template <Masked kMasked, bool kStore>
void sums(const float* error, const float* x, ReluMask mask, std::int64_t pixels,
          std::int64_t channels, const float* mean, float* masked, float* error_sum,
          float* product_sum) {
  clear(error_sum, product_sum, channels);
  for (std::int64_t p = 0; p < pixels; ++p) {
    const std::int64_t at = p * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      const float g = masked_error<kMasked>(error[at + c], x[at + c], mask, at, c);
      if constexpr (kStore) masked[at + c] = g;
      error_sum[c] += g;
      product_sum[c] += g * (x[at + c] - mean[c]);
    }
  }
}

template <bool kStore>
auto sums_by(Masked by) {
  if (by == Masked::by_output) return sums<Masked::by_output, kStore>;
  return by == Masked::by_norm ? sums<Masked::by_norm, kStore> : sums<Masked::nowhere, kStore>;
}

void error_sums(const float* error, const float* x, ReluMask mask, std::int64_t pixels,
                std::int64_t channels, const float* mean, float* masked, float* error_sum,
                float* product_sum) {
  const auto loop =
      masked != nullptr ? sums_by<true>(masked_by(mask)) : sums_by<false>(masked_by(mask));
  loop(error, x, mask, pixels, channels, mean, masked, error_sum, product_sum);
}

template <Masked kMasked>
void apply(const float* error, const float* x, ReluMask mask, std::int64_t pixels,
           std::int64_t channels, const float* a, const float* b, const float* d, float* out) {
  for (std::int64_t p = 0; p < pixels; ++p) {
    const std::int64_t at = p * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      const float g = masked_error<kMasked>(error[at + c], x[at + c], mask, at, c);
      out[at + c] = a[c] * g + b[c] * x[at + c] + d[c];
    }
  }
}

void error_apply(const float* error, const float* x, ReluMask mask, std::int64_t pixels,
                 std::int64_t channels, const float* a, const float* b, const float* d,
                 float* out) {
  const Masked by = masked_by(mask);
  const auto loop = by == Masked::by_output ? apply<Masked::by_output>
                    : by == Masked::by_norm ? apply<Masked::by_norm>
                                            : apply<Masked::nowhere>;
  loop(error, x, mask, pixels, channels, a, b, d, out);
}

}  // namespace

const ElementwiseKernels& BITCYCLE_ELEMENTWISE_TABLE() {
  static constexpr ElementwiseKernels table = {range,
                                               finite,
                                               quantize,
                                               quantize_stochastic,
                                               channel_sums,
                                               scale_shift_activate,
                                               error_sums,
                                               error_apply,
                                               drop_out,
                                               exp_sum,
                                               exp_scaled,
                                               lstm_row,
                                               lstm_row_backward};
  return table;
}

}  // namespace bitcycle
