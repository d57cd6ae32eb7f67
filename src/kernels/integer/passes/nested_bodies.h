#pragma once

// Nested codes over `Lanes`: 8-bit codes rounded to those of narrower widths (Note [Nested codes]
// in docs/numerics.md), and the inner products of a gradient with the values that they stand for.

#include "kernels/integer/passes/pass_bodies.h"

namespace bitcycle::integer {
namespace {

// In place, over all codes of an image: its halo holds the zero point, which becomes the new one.
template <typename Lanes>
void nest_body(const NestJob& shared) {
  const NestJob job = shared;
  if (job.step.finest_zero == 0 && job.params.zero_point == 0) {  // after ReLU
    return Lanes::nest(job.codes, job.count, job.params.largest_code());
  }
  const Lanes zero = Lanes::all(job.step.finest_zero);
  const Lanes ratio = Lanes::all(job.step.ratio);
  const Lanes own_zero = Lanes::all(job.step.zero);
  const typename Lanes::Quantizer quantizer(job.params);
  const auto nest = [&](std::uint8_t * codes, int count) __attribute__((always_inline)) {
    const Lanes difference = Lanes::load_bytes(codes, count) - zero;
    quantizer.store(difference.times_plus(ratio, own_zero), codes, count);
  };
  std::ptrdiff_t i = 0;
  for (; i + kPanel <= job.count; i += kPanel) nest(job.codes + i, kPanel);
  if (i < job.count) nest(job.codes + i, static_cast<int>(job.count - i));
}

// Adding this to a number below 2^22 rounds it to nearest even; taking it off again is exact.
constexpr float kRounding = 12582912.0f;  // 1.5 * 2^23

// Whether codes may round to numbers beyond those of their width. Codes from 0 on do not: the last
// is q = 255, and 255 n / 255 = n. Nor does it matter for them whether q times the ratio is rounded
// to a float before it is rounded to a code: it is 1/510 or more from every tie, and off by 2^-22
// of itself at most.
enum class Ends { clamped, within };

// gradient * (code - zero point) of kCount options, summed up in the order of pixels.
template <typename Lanes, int kCount, Ends kEnds>
class OptionSums {
 public:
  explicit OptionSums(const NestStep* steps) : steps_(steps) {}

  [[gnu::always_inline]] void add(const Lanes& gradient, const Lanes& difference) {
    for (int o = 0; o < kCount; ++o) {
      sums_[o].lanes = gradient.times_plus(value(difference, steps_[o]), sums_[o].lanes);
    }
  }
  // Lane by lane, in double precision.
  void save(double* totals) const {
    for (int o = 0; o < kCount; ++o) {
      float lanes[kPanel];
      sums_[o].lanes.store(lanes, kPanel);
      for (const float lane : lanes) totals[o] += double{lane};
    }
  }

 private:
  struct Sum {
    Lanes lanes = Lanes::all(0);
  };

  // code - zero point
  [[gnu::always_inline]] static Lanes value(const Lanes& difference, const NestStep& step) {
    if constexpr (kEnds == Ends::within) {
      return difference.times_plus(Lanes::all(step.ratio), Lanes::all(kRounding)) -
             Lanes::all(kRounding);
    }
    Lanes code = difference.times_plus(Lanes::all(step.ratio), Lanes::all(step.zero));
    code = code.min(Lanes::all(step.largest)).max(Lanes::all(0));
    return (code + Lanes::all(kRounding)) - Lanes::all(kRounding + step.zero);
  }

  const NestStep* steps_;
  Sum sums_[kCount];
};

template <typename Lanes, typename T, Ends kEnds, int kCount>
[[gnu::always_inline]] inline void add_options(const OptionJob& job, const BandBlock& block,
                                               int first) {
  const auto* gradient = static_cast<const T*>(job.gradient);
  const Lanes zero = Lanes::all(job.steps[first].finest_zero);
  OptionSums<Lanes, kCount, kEnds> sums(job.steps + first);
  block.each_pixel([&](const Position& p) __attribute__((always_inline)) {
    sums.add(block.load<Lanes>(gradient, p),
             Lanes::load_bytes(job.codes + p.code, block.count) - zero);
  });
  sums.save(job.products + first);
}

// The same of up to kMost options.
template <typename Lanes, typename T, Ends kEnds, int kMost>
[[gnu::always_inline]] inline void add_up_to(const OptionJob& job, const BandBlock& block,
                                             int first, int count) {
  if (count == kMost) return add_options<Lanes, T, kEnds, kMost>(job, block, first);
  if constexpr (kMost > 1) add_up_to<Lanes, T, kEnds, kMost - 1>(job, block, first, count);
}

// A band stays in the first-level cache while all options pass.
template <typename Lanes, typename T, Ends kEnds>
void options_of(const OptionJob& job) {
  constexpr int kAtOnce = Lanes::kSumsAtOnce;
  each_block(
      job.grid, [&](const BandBlock& block) __attribute__((always_inline)) {
        for (int first = 0; first < job.options; first += kAtOnce) {
          add_up_to<Lanes, T, kEnds, kAtOnce>(job, block, first,
                                              std::min(kAtOnce, job.options - first));
        }
      });
}

template <typename Lanes, typename T>
void option_products_body(const OptionJob& shared) {
  const OptionJob job = shared;
  const bool within = std::all_of(job.steps, job.steps + job.options, [](const NestStep& step) {
    return step.finest_zero == 0 && step.zero == 0;
  });
  within ? options_of<Lanes, T, Ends::within>(job) : options_of<Lanes, T, Ends::clamped>(job);
}

}  // namespace
}  // namespace bitcycle::integer
