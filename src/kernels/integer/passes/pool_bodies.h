#pragma once

// Pooling over `Lanes`, image by image: the mean of a whole image, and the maximum of a window.

#include "kernels/integer/passes/convert_bodies.h"
#include "kernels/integer/passes/nested_bodies.h"
#include "kernels/integer/passes/pass_bodies.h"
#include "kernels/integer/passes/wide_bodies.h"

namespace bitcycle::integer {
namespace {

template <typename Body>
[[gnu::always_inline]] inline void each_channel_block(int channels, Body body) {
  for (int c = 0; c < channels; c += kPanel) body(c, std::min(kPanel, channels - c));
}

template <typename Lanes, typename T>
void mean_pool_body(const CodeGrid& grid, const void* from, void* to) {
  const int pixels = grid.height * grid.width;
  const Lanes share = Lanes::all(1.0f / static_cast<float>(pixels));
  each_channel_block(grid.channels, [&](int c, int count) {
    const T* p = static_cast<const T*>(from) + c;
    Lanes sum = Lanes::all(0);
    for (int i = 0; i < pixels; ++i, p += grid.channels) sum = sum + Lanes::load(p, count);
    (sum * share).store(static_cast<T*>(to) + c, count);
  });
}

template <typename Lanes, typename T>
void mean_pool_backward_body(const CodeGrid& grid, const void* from, void* to) {
  const int pixels = grid.height * grid.width;
  const Lanes share = Lanes::all(1.0f / static_cast<float>(pixels));
  each_channel_block(grid.channels, [&](int c, int count) {
    const Lanes g = Lanes::load(static_cast<const T*>(from) + c, count) * share;
    T* p = static_cast<T*>(to) + c;
    for (int i = 0; i < pixels; ++i, p += grid.channels) g.store(p, count);
  });
}

// Ties go to the first of the window; padding never wins.
template <typename Lanes, typename T>
void max_pool_body(const MaxPoolJob& job) {
  const int channels = job.input.channels;
  each_block(
      job.output, [&](const BandBlock& block) __attribute__((always_inline)) {
        block.each_pixel([&](const Position& to) __attribute__((always_inline)) {
          Lanes best = Lanes::all(-kInfinity);
          Lanes tap = Lanes::all(0);
          for (int t = 0; t < job.kernel * job.kernel; ++t) {
            const int iy = to.y * job.stride + t / job.kernel - job.pad;
            const int ix = to.x * job.stride + t % job.kernel - job.pad;
            if (iy < 0 || ix < 0 || iy >= job.input.height || ix >= job.input.width) continue;
            const T* p = static_cast<const T*>(job.from) +
                         (std::ptrdiff_t{iy} * job.input.width + ix) * channels + block.channel;
            const Lanes v = Lanes::load(p, block.count);
            tap = tap.replaced_where_greater(Lanes::all(static_cast<float>(t)), v, best);
            best = best.replaced_where_greater(v, v, best);
          }
          best.store(static_cast<T*>(job.to) + to.at, block.count);
          tap.store_bytes(job.taps + to.at, block.count);
        });
      });
}

// Gathers: each input collects from the windows that it won, so it is rounded once.
template <typename Lanes, typename T>
void max_pool_backward_body(const MaxPoolJob& job) {
  const int channels = job.input.channels;
  each_block(
      job.input, [&](const BandBlock& block) __attribute__((always_inline)) {
        block.each_pixel([&](const Position& to) __attribute__((always_inline)) {
          Lanes sum = Lanes::all(0);
          for (int t = 0; t < job.kernel * job.kernel; ++t) {
            const int sy = to.y + job.pad - t / job.kernel;
            const int sx = to.x + job.pad - t % job.kernel;
            if (sy < 0 || sx < 0 || sy % job.stride != 0 || sx % job.stride != 0) continue;
            const int oy = sy / job.stride;
            const int ox = sx / job.stride;
            if (oy >= job.output.height || ox >= job.output.width) continue;
            const std::ptrdiff_t at =
                (std::ptrdiff_t{oy} * job.output.width + ox) * channels + block.channel;
            const Lanes g = Lanes::load(static_cast<const T*>(job.from) + at, block.count);
            sum = sum + g.where_equal(Lanes::load_bytes(job.taps + at, block.count),
                                      static_cast<float>(t));
          }
          sum.store(static_cast<T*>(job.to) + to.at, block.count);
        });
      });
}

template <typename Lanes>
constexpr PassKernels make_passes() {
  return {
      .activate = {activate_body<Lanes, Half>, activate_body<Lanes, float>},
      .quantize = {quantize_body<Lanes, Half>, quantize_body<Lanes, float>},
      .gradient_sums = {gradient_sums_body<Lanes, Half>, gradient_sums_body<Lanes, float>},
      .quantize_errors = {quantize_errors_body<Lanes, Half>, quantize_errors_body<Lanes, float>},
      .nest = nest_body<Lanes>,
      .option_products = {option_products_body<Lanes, Half>, option_products_body<Lanes, float>},
      .quantize_wide_errors = {quantize_wide_errors_body<Lanes, Half>,
                               quantize_wide_errors_body<Lanes, float>},
      .product = {product_body<Lanes, Half>, product_body<Lanes, float>},
      .to_half = to_half_body<Lanes>,
      .to_float = to_float_body<Lanes>,
      .mean_pool = {mean_pool_body<Lanes, Half>, mean_pool_body<Lanes, float>},
      .mean_pool_backward = {mean_pool_backward_body<Lanes, Half>,
                             mean_pool_backward_body<Lanes, float>},
      .max_pool = {max_pool_body<Lanes, Half>, max_pool_body<Lanes, float>},
      .max_pool_backward = {max_pool_backward_body<Lanes, Half>,
                            max_pool_backward_body<Lanes, float>},
  };
}

}  // namespace
}  // namespace bitcycle::integer
