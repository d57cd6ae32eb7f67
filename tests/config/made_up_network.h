#pragma once

// A network that is made up: it learns at its own pace, keeps a known share of that at each width,
// takes a few steps to adapt to another one, and is seen through batches of 128 samples of ten
// classes, while its accuracy wanders about.

#include "bitcycle/base/random.h"
#include "bitcycle/config/range_test.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace bitcycle {

class MadeUpNetwork {
 public:
  // Shares by bits; widths that are not named keep all. Pace: steps in which two thirds are
  // learned.
  MadeUpNetwork(std::uint64_t seed, std::map<int, double> shares, double pace = 500)
      : key_(RandomKey(seed).derive("made-up network")), shares_(std::move(shares)), pace_(pace) {}

  // Accuracy above chance in a step at so many bits.
  double step(int bits) {
    constexpr double kMost = 0.65, kAdapts = 0.3, kChance = 0.1, kBatch = 128;
    const auto share = shares_.find(bits);
    kept_ += kAdapts * ((share == shares_.end() ? 1 : share->second) - kept_);
    wander_ = 0.9 * wander_ + 0.004 * key_.normal(2 * time_);
    const double learned = kMost * (1 - std::exp(-static_cast<double>(time_) / pace_)) + wander_;
    const double accuracy = std::clamp(kChance + kept_ * std::max(0.0, learned), 0.001, 0.999);
    const double noise = std::sqrt(accuracy * (1 - accuracy) / kBatch);
    return accuracy + noise * key_.normal(2 * time_++ + 1) - kChance;
  }

 private:
  RandomKey key_;
  std::map<int, double> shares_;
  double pace_;
  std::uint64_t time_ = 0;
  double kept_ = 1, wander_ = 0;
};

inline RangeTest tested(MadeUpNetwork network, const RangeTestOptions& options = {}) {
  RangeTest test(options);
  while (!test.ended()) test.observe(network.step(test.bits()));
  return test;
}

}  // namespace bitcycle
