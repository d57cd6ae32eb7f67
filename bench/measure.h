#pragma once

// Timing next to the peak: short slices of the kernel and of the peak loop take turns, and the best
// of each counts. Whatever else the machine is doing then slows both alike.

#include "bitcycle/kernels/peak.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace bitcycle::bench {

struct Speed {
  double gmacs = 0;       // billion multiply-accumulates a second
  double peak_gmacs = 0;  // of the instruction mix
  double fraction() const { return gmacs / peak_gmacs; }
};

template <typename Work>
double seconds_of(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename Kernel>
Speed measure(Kernel&& kernel, double macs, Mix mix, int repeats = 25) {
  constexpr std::int64_t kTrial = 1000;
  const double round = seconds_of([&] { run_mix(mix, kTrial); }) / kTrial;
  // Slices of equal length: a longer one is more likely to be interrupted.
  const auto rounds = static_cast<std::int64_t>(seconds_of(kernel) / round) + 1;
  double best = std::numeric_limits<double>::infinity();
  double best_peak = best;
  std::int64_t peak_macs = 0;
  for (int i = 0; i < repeats; ++i) {
    best_peak = std::min(best_peak, seconds_of([&] { peak_macs = run_mix(mix, rounds); }));
    best = std::min(best, seconds_of(kernel));
  }
  return {macs / best * 1e-9, static_cast<double>(peak_macs) / best_peak * 1e-9};
}

}  // namespace bitcycle::bench
