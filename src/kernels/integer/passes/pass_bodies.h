#pragma once

// The fused passes, written once over `Lanes`, 16 floats of 16 neighbouring channels. Every sum is
// taken in the order of pixels, so all instruction sets make the same bytes.

#include "bitcycle/kernels/finite.h"

#include "kernels/integer/isa/pass_kernels.h"
#include "kernels/integer/passes/pass_walk.h"

#include <algorithm>

namespace bitcycle::integer {
namespace {

template <typename Lanes>
struct RangeLanes {
  Lanes low = Lanes::all(kInfinity);
  Lanes high = Lanes::all(-kInfinity);
  Lanes zeros = Lanes::all(0);  // NaN once a value was not finite (Note [Poison])

  void add(const Lanes& v, int count) {
    // Lanes without a channel hold 0, which must not count.
    low = low.min(v.or_where_missing(kInfinity, count));
    high = high.max(v.or_where_missing(-kInfinity, count));
    zeros = v.times_plus(Lanes::all(0), zeros);
  }
  Range range() const {
    float seen[kPanel];
    zeros.store(seen, kPanel);
    for (const float zero : seen) {
      if (zero != 0.0f) return kPoisoned;
    }
    return {low.smallest(), high.largest()};
  }
};

// Calls sink(block, position, x) with x = max(scale * y + shift + residual, floor).
template <typename Lanes, typename T, typename Sink>
[[gnu::always_inline]] inline void each_activation(const ActivateJob& shared, Sink sink) {
  const ActivateJob job = shared;
  const auto* y = static_cast<const T*>(job.y);
  const auto* residual = static_cast<const T*>(job.residual);
  const Lanes floor = Lanes::all(job.floor);
  each_block(
      job.grid, [&](const BandBlock& block) __attribute__((always_inline)) {
        const Lanes scale = Lanes::load(job.scale + block.channel, kPanel);
        const Lanes shift = Lanes::load(job.shift + block.channel, kPanel);
        block.each_pixel([&](const Position& p) __attribute__((always_inline)) {
          Lanes v = block.load<Lanes>(y, p).times_plus(scale, shift);
          if (residual != nullptr) v = v + block.load<Lanes>(residual, p);
          sink(block, p, floor.max(v));  // in this order NaN stays (Note [Poison])
        });
      });
}

template <typename Lanes, typename T>
Range activate_body(const ActivateJob& shared) {
  const ActivateJob job = shared;
  auto* output = static_cast<T*>(job.output);
  RangeLanes<Lanes> range;
  each_activation<Lanes, T>(
      job, [&](const BandBlock& block, const Position& p, const Lanes& v)
               __attribute__((always_inline)) {
                 range.add(v, block.count);
                 if (output != nullptr) v.store(output + p.at, block.count);
                 if (job.mask != nullptr) {
                   const std::uint16_t bits = v.positive_bits();
                   job.mask[p.mask] = static_cast<std::uint8_t>(bits);
                   job.mask[p.mask + 1] = static_cast<std::uint8_t>(bits >> 8);
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
      job, [&](const BandBlock& block, const Position& p, const Lanes& v) __attribute__((
               always_inline)) { quantizer.store(v, job.codes + p.code, block.count); });
}

// The gradient of one block of 16 channels, gated by ReLU.
template <typename Lanes, typename T>
class GatedGradient {
 public:
  GatedGradient(const GradientJob& job, const BandBlock& block)
      : job_(job),
        block_(block),
        scale_(job.scale != nullptr ? Lanes::load(job.scale + block.channel, kPanel)
                                    : Lanes::all(0)),
        shift_(job.scale != nullptr ? Lanes::load(job.shift + block.channel, kPanel)
                                    : Lanes::all(0)),
        added_(job.per_channel != nullptr
                   ? Lanes::load(job.per_channel + block.channel, block.count)
                   : Lanes::all(0)) {}
  Lanes operator()(const Position& p, const Lanes& y) const {
    Lanes g = block_.template load<Lanes>(static_cast<const T*>(job_.gradient), p);
    if (job_.residual != nullptr) {
      g = g + block_.template load<Lanes>(static_cast<const T*>(job_.residual), p);
    }
    if (job_.per_channel != nullptr) g = g + added_;
    if (job_.mask != nullptr) {
      const std::uint8_t* bits = job_.mask + p.mask;
      return g.where_bits(static_cast<std::uint16_t>(bits[0] | bits[1] << 8));
    }
    return job_.scale != nullptr ? g.where_positive(y.times_plus(scale_, shift_)) : g;
  }

 private:
  const GradientJob& job_;
  const BandBlock& block_;
  Lanes scale_;
  Lanes shift_;
  Lanes added_;
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
  each_block(
      job.grid, [&](const BandBlock& block) __attribute__((always_inline)) {
        const GatedGradient<Lanes, T> gradient(job, block);
        const Lanes mean = Lanes::load(job.mean + block.channel, kPanel);
        GradientTotals<Lanes> totals(job.sums + block.channel, stride);
        block.each_pixel([&](const Position& p) __attribute__((always_inline)) {
          const Lanes value = block.load<Lanes>(y, p);
          const Lanes g = gradient(p, value);
          totals.add(g, value - mean);
          if (output != nullptr) g.store(output + p.at, block.count);
        });
        totals.save(job.sums + block.channel, stride);
      });
}

// The noise bits of a block's pixels in turn, as floats.
template <typename Lanes>
class BlockNoise {
 public:
  BlockNoise(const GradientJob& job, const BandBlock& block)
      : key_(job.key),
        element_(job.first_element +
                 std::ptrdiff_t{block.row} * job.grid.width * job.grid.channels + block.channel),
        channels_(job.grid.channels),
        count_(block.count),
        paired_(count_ == kPanel && element_ % 2 == 0 && channels_ % 2 == 0),
        stream_(key_, static_cast<std::uint32_t>(element_ / 2),
                static_cast<std::uint32_t>(channels_ / 2)) {}

  [[gnu::always_inline]] Lanes next() { return paired_ ? stream_.next() : next_by_element(); }

 private:
  Lanes next_by_element() {
    float values[kPanel] = {};
    for (int i = 0; i < count_; ++i) {
      values[i] = static_cast<float>(noise_bits(key_, static_cast<std::uint64_t>(element_ + i)));
    }
    element_ += channels_;
    return Lanes::load(values, kPanel);
  }

  NoiseKey key_;
  std::int64_t element_;
  int channels_;
  int count_;
  bool paired_;  // a pixel's elements share words with no others
  typename Lanes::Noise stream_;
};

// Calls sink(block, position, e) with e = a * g + (b * y + c) and noise. The job's coefficients
// include the quantizer's scale, its zero point and the noise's centre.
template <typename Lanes, typename T, typename Sink>
[[gnu::always_inline]] inline void each_error(const GradientJob& shared, Sink sink) {
  const GradientJob job = shared;
  const auto* y = static_cast<const T*>(job.y != nullptr ? job.y : job.gradient);  // else b is 0
  each_block(
      job.grid, [&](const BandBlock& block) __attribute__((always_inline)) {
        const GatedGradient<Lanes, T> gradient(job, block);
        BlockNoise<Lanes> noise(job, block);
        const Lanes a = Lanes::load(job.a + block.channel, kPanel);
        const Lanes b = Lanes::load(job.b + block.channel, kPanel);
        const Lanes c = Lanes::load(job.c + block.channel, kPanel);
        block.each_pixel([&](const Position& p) __attribute__((always_inline)) {
          const Lanes value = block.load<Lanes>(y, p);
          const Lanes e = gradient(p, value).times_plus(a, value.times_plus(b, c));
          sink(block, p, noise.next().times_plus(Lanes::all(kNoiseStep), e));
        });
      });
}

template <typename Lanes, typename T>
void quantize_errors_body(const GradientJob& shared) {
  const GradientJob job = shared;
  const typename Lanes::Quantizer quantizer(job.params);
  each_error<Lanes, T>(
      job, [&](const BandBlock& block, const Position& p, const Lanes& e) __attribute__((
               always_inline)) { quantizer.store(e, job.codes + p.code, block.count); });
}

}  // namespace
}  // namespace bitcycle::integer
