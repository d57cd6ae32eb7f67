#pragma once

// The fused passes, written once over `Lanes`, 16 floats of 16 neighbouring channels. Rows are
// walked one block of 16 channels at a time: coefficients and accumulators then stay in registers,
// and a row of a tensor stays in the first-level cache. Every sum is taken in the order of pixels,
// so all instruction sets make the same bytes.

#include "kernels/integer/pass_kernels.h"
#include "kernels/integer/weights.h"

#include <algorithm>
#include <limits>

namespace bitcycle::integer {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One block of channels in one row, and where its first pixel lies in each kind of tensor.
struct RowBlock {
  int row;
  int channel;           // first of the block
  int count;             // channels that exist, at most 16
  std::ptrdiff_t first;  // element of a dense tensor
  std::ptrdiff_t code;   // byte of a code buffer
  std::ptrdiff_t mask;   // byte of a bit mask

  RowBlock(const CodeGrid& grid, int y, int c, int n)
      : row(y),
        channel(c),
        count(n),
        first(std::ptrdiff_t{y} * grid.width * grid.channels + c),
        code((y + grid.halo) * grid.row_bytes() + std::ptrdiff_t{grid.halo} * grid.channels + c),
        mask((std::ptrdiff_t{y} * grid.width * panels_of(grid.channels) + c / kPanel) * 2) {}
};

inline std::ptrdiff_t mask_stride(const CodeGrid& grid) {
  return std::ptrdiff_t{panels_of(grid.channels)} * 2;
}

// Calls the body twice in the source, so that whole blocks are compiled with a constant count:
// bodies must be always_inline. Bodies work on copies of their job: a store of bytes could change
// the original for all the compiler knows, and it would be read again for every pixel.
template <typename Body>
[[gnu::always_inline]] inline void each_row_block(const CodeGrid& grid, Body body) {
  for (int row = 0; row < grid.height; ++row) {
    int channel = 0;
    for (; channel + kPanel <= grid.channels; channel += kPanel) {
      body(RowBlock(grid, row, channel, kPanel));
    }
    if (channel < grid.channels) body(RowBlock(grid, row, channel, grid.channels - channel));
  }
}

template <typename Lanes>
struct RangeLanes {
  Lanes low = Lanes::all(kInfinity);
  Lanes high = Lanes::all(-kInfinity);

  void add(const Lanes& v, int count) {
    // Lanes without a channel hold 0, which must not count.
    low = low.min(v.or_where_missing(kInfinity, count));
    high = high.max(v.or_where_missing(-kInfinity, count));
  }
  Range range() const { return {low.smallest(), high.largest()}; }
};

// Calls sink(block, x, lanes) with x = max(scale * y + shift + residual, floor).
template <typename Lanes, typename T, typename Sink>
[[gnu::always_inline]] inline void each_activation(const ActivateJob& shared, Sink sink) {
  const ActivateJob job = shared;
  const auto* y = static_cast<const T*>(job.y);
  const auto* residual = static_cast<const T*>(job.residual);
  const Lanes floor = Lanes::all(job.floor);
  each_row_block(
      job.grid, [&](const RowBlock& block) __attribute__((always_inline)) {
        const Lanes scale = Lanes::load(job.scale + block.channel, kPanel);
        const Lanes shift = Lanes::load(job.shift + block.channel, kPanel);
        std::ptrdiff_t at = block.first;
        for (int x = 0; x < job.grid.width; ++x, at += job.grid.channels) {
          Lanes v = Lanes::load(y + at, block.count).times_plus(scale, shift);
          if (residual != nullptr) v = v + Lanes::load(residual + at, block.count);
          sink(block, x, at, v.max(floor));
        }
      });
}

template <typename Lanes, typename T>
Range activate_body(const ActivateJob& shared) {
  const ActivateJob job = shared;
  auto* output = static_cast<T*>(job.output);
  RangeLanes<Lanes> range;
  each_activation<Lanes, T>(
      job, [&](const RowBlock& block, int x, std::ptrdiff_t at, Lanes v)
               __attribute__((always_inline)) {
                 range.add(v, block.count);
                 if (output != nullptr) v.store(output + at, block.count);
                 if (job.mask != nullptr) {
                   const std::uint16_t bits = v.positive_bits();
                   std::uint8_t* to = job.mask + block.mask + x * mask_stride(job.grid);
                   to[0] = static_cast<std::uint8_t>(bits);
                   to[1] = static_cast<std::uint8_t>(bits >> 8);
                 }
               });
  return range.range();
}

// The job's coefficients include the quantizer's scale and zero point.
template <typename Lanes, typename T>
void quantize_body(const ActivateJob& shared) {
  const ActivateJob job = shared;
  const typename Lanes::Quantizer quantizer(job.params);
  each_activation<Lanes, T>(
      job, [&](const RowBlock& block, int x, std::ptrdiff_t, const Lanes& v)
               __attribute__((always_inline)) {
                 quantizer.store(v, job.codes + block.code + std::ptrdiff_t{x} * job.grid.channels,
                                 block.count);
               });
}

// The gradient of one block of 16 channels, gated by ReLU.
template <typename Lanes, typename T>
class GatedGradient {
 public:
  GatedGradient(const GradientJob& job, const RowBlock& block)
      : job_(job),
        block_(block),
        scale_(job.scale != nullptr ? Lanes::load(job.scale + block.channel, kPanel)
                                    : Lanes::all(0)),
        shift_(job.scale != nullptr ? Lanes::load(job.shift + block.channel, kPanel)
                                    : Lanes::all(0)) {}
  Lanes operator()(int x, std::ptrdiff_t at, const Lanes& y) const {
    Lanes g = Lanes::load(static_cast<const T*>(job_.gradient) + at, block_.count);
    if (job_.residual != nullptr) {
      g = g + Lanes::load(static_cast<const T*>(job_.residual) + at, block_.count);
    }
    if (job_.mask != nullptr) {
      const std::uint8_t* bits = job_.mask + block_.mask + x * mask_stride(job_.grid);
      return g.where_bits(static_cast<std::uint16_t>(bits[0] | bits[1] << 8));
    }
    return job_.scale != nullptr ? g.where_positive(y.times_plus(scale_, shift_)) : g;
  }

 private:
  const GradientJob& job_;
  const RowBlock& block_;
  Lanes scale_;
  Lanes shift_;
};

// What is gathered about the gradient of a block of channels, [kind][padded channels] in memory.
template <typename Lanes>
struct GradientTotals {
  Lanes sum, deviation, low, high;

  GradientTotals(const float* totals, int stride)
      : sum(Lanes::load(totals, kPanel)),
        deviation(Lanes::load(totals + stride, kPanel)),
        low(Lanes::load(totals + 2 * stride, kPanel)),
        high(Lanes::load(totals + 3 * stride, kPanel)) {}
  void add(const Lanes& g, const Lanes& distance) {
    sum = sum + g;
    deviation = g.times_plus(distance, deviation);
    low = low.min(g);
    high = high.max(g);
  }
  void save(float* totals, int stride) const {
    sum.store(totals, kPanel);
    deviation.store(totals + stride, kPanel);
    low.store(totals + 2 * stride, kPanel);
    high.store(totals + 3 * stride, kPanel);
  }
};

template <typename Lanes, typename T>
void gradient_sums_body(const GradientJob& shared) {
  const GradientJob job = shared;
  const auto* y = static_cast<const T*>(job.y);
  auto* output = static_cast<T*>(job.output);
  const int stride = padded(job.grid.channels);
  each_row_block(
      job.grid, [&](const RowBlock& block) __attribute__((always_inline)) {
        const GatedGradient<Lanes, T> gradient(job, block);
        const Lanes mean = Lanes::load(job.mean + block.channel, kPanel);
        GradientTotals<Lanes> totals(job.sums + block.channel, stride);
        std::ptrdiff_t at = block.first;
        for (int x = 0; x < job.grid.width; ++x, at += job.grid.channels) {
          const Lanes value = Lanes::load(y + at, block.count);
          const Lanes g = gradient(x, at, value);
          totals.add(g, value - mean);
          if (output != nullptr) g.store(output + at, block.count);
        }
        totals.save(job.sums + block.channel, stride);
      });
}

// Calls sink(block, x, at, e) with e = a * g + (b * y + c).
template <typename Lanes, typename T, typename Sink>
[[gnu::always_inline]] inline void each_error(const GradientJob& shared, Sink sink) {
  const GradientJob job = shared;
  const auto* y = static_cast<const T*>(job.y);
  each_row_block(
      job.grid, [&](const RowBlock& block) __attribute__((always_inline)) {
        const GatedGradient<Lanes, T> gradient(job, block);
        const Lanes a = Lanes::load(job.a + block.channel, kPanel);
        const Lanes b = Lanes::load(job.b + block.channel, kPanel);
        const Lanes c = Lanes::load(job.c + block.channel, kPanel);
        std::ptrdiff_t at = block.first;
        for (int x = 0; x < job.grid.width; ++x, at += job.grid.channels) {
          const Lanes value = y != nullptr ? Lanes::load(y + at, block.count) : Lanes::all(0);
          sink(block, x, at, gradient(x, at, value).times_plus(a, value.times_plus(b, c)));
        }
      });
}

// The 16 random bits of each element from `first` on, as floats.
template <typename Lanes>
[[gnu::always_inline]] inline Lanes noise_lanes(NoiseKey key, std::int64_t first, int count) {
  if (count == kPanel && (first & 1) == 0) {
    return Lanes::noise_bits(key, static_cast<std::uint32_t>(first >> 1));
  }
  float values[kPanel] = {};
  for (int i = 0; i < count; ++i) {
    values[i] = static_cast<float>(noise_bits(key, static_cast<std::uint64_t>(first + i)));
  }
  return Lanes::load(values, kPanel);
}

// The job's coefficients include the quantizer's scale, its zero point and the noise's centre.
template <typename Lanes, typename T>
void quantize_errors_body(const GradientJob& shared) {
  const GradientJob job = shared;
  const typename Lanes::Quantizer quantizer(job.params);
  each_error<Lanes, T>(
      job, [&](const RowBlock& block, int x, std::ptrdiff_t at,
               const Lanes& e) __attribute__((always_inline)) {
        const Lanes bits = noise_lanes<Lanes>(job.key, job.first_element + at, block.count);
        quantizer.store(bits.times_plus(Lanes::all(kNoiseStep), e),
                        job.codes + block.code + std::ptrdiff_t{x} * job.grid.channels,
                        block.count);
      });
}

}  // namespace
}  // namespace bitcycle::integer
