#pragma once

// Steps that benchmarks time, in turns.

#include "bitcycle/train/caching_allocator.h"
#include "bitcycle/train/optimizer.h"
#include "bitcycle/train/step_bench.h"

#include <chrono>
#include <functional>

namespace bitcycle {

// The rate is small, so that random labels never make a step diverge.
inline const OptimizerRecipe kBenchOptimizer{.lr = 0.01, .momentum = 0.9, .weight_decay = 1e-4};

// A step of something that trains, timed; knows the memory it needs beyond what it keeps.
class TimedStep {
 public:
  explicit TimedStep(std::function<void()> step) : step_(std::move(step)) {}

  void run() {
    reset_peak_memory();
    const std::int64_t kept = tensor_memory().in_use;
    const auto start = std::chrono::steady_clock::now();
    step_();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    milliseconds_.push_back(taken.count());
    bytes_ = tensor_memory().peak - kept;
  }
  void forget() { milliseconds_.clear(); }
  MeasuredStep measured() const { return {summarise(milliseconds_), milliseconds_, bytes_}; }

 private:
  std::function<void()> step_;
  std::vector<double> milliseconds_;
  std::int64_t bytes_ = 0;
};

// Some rounds to warm up, then those that count.
inline void take_turns(std::vector<TimedStep>& steps, int warmup, int repeats) {
  for (int i = 0; i < warmup + repeats; ++i) {
    if (i == warmup) {
      for (TimedStep& step : steps) step.forget();
    }
    for (TimedStep& step : steps) step.run();
  }
}

}  // namespace bitcycle
