#pragma once

// From float to half and back over `Lanes`, and inner products of either.

#include "kernels/integer/passes/pass_bodies.h"

#include <algorithm>

namespace bitcycle::integer {
namespace {

// Calls work(first element, number of elements) for up to kPanel elements at a time.
template <typename Work>
[[gnu::always_inline]] inline void each_panel(std::ptrdiff_t count, const Work& work) {
  for (std::ptrdiff_t i = 0; i < count; i += kPanel) {
    work(i, static_cast<int>(std::min<std::ptrdiff_t>(kPanel, count - i)));
  }
}

template <typename Lanes>
void to_half_body(const float* from, std::ptrdiff_t count, Half* to) {
  each_panel(
      count, [&](std::ptrdiff_t i, int lanes) __attribute__((always_inline)) {
        Lanes::load(from + i, lanes).store(to + i, lanes);
      });
}

// Multiplied by `factor`.
template <typename Lanes>
void to_float_body(const Half* from, std::ptrdiff_t count, float factor, float* to) {
  // Adding -0 keeps the sign of zeros.
  const Lanes scale = Lanes::all(factor), zero = Lanes::all(-0.0f);
  each_panel(
      count, [&](std::ptrdiff_t i, int lanes) __attribute__((always_inline)) {
        Lanes::load(from + i, lanes).times_plus(scale, zero).store(to + i, lanes);
      });
}

template <typename Lanes, typename T>
double product_body(const void* a, const void* b, std::ptrdiff_t count) {
  const auto *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  Lanes sum = Lanes::all(0);
  each_panel(
      count, [&](std::ptrdiff_t i, int lanes) __attribute__((always_inline)) {
        sum = Lanes::load(left + i, lanes).times_plus(Lanes::load(right + i, lanes), sum);
      });
  float parts[kPanel];
  sum.store(parts, kPanel);
  double total = 0;
  for (const float part : parts) total += double{part};
  return total;
}

}  // namespace
}  // namespace bitcycle::integer
