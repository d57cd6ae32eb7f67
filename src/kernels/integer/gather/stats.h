#pragma once

// Channel statistics gathered by a convolution: one partial result a work item, added up in the
// order of the work items, so that they do not depend on the number of threads.

#include "kernels/integer/weights/weights.h"

#include <limits>
#include <vector>

namespace bitcycle::integer {

inline constexpr int kStatsFloats = 4 * kPanel;  // sum, sum of squares, low, high

class PartialStats {
 public:
  PartialStats(int parcels, int panels)
      : parcels_(parcels), panels_(panels), data_(std::size_t(parcels) * panels * kStatsFloats) {
    for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = kStart[i / kPanel % 4];
  }

  // The partial results of a work item, [panel][4][16]; null when none are wanted.
  float* parcel(int index) {
    return parcels_ == 0 ? nullptr : data_.data() + std::ptrdiff_t{index} * panels_ * kStatsFloats;
  }

  void reduce(int channels, ChannelStats& stats) const {
    const auto size = static_cast<std::size_t>(channels);
    stats.sum.assign(size, 0.0);
    stats.sum_of_squares.assign(size, 0.0);
    stats.low.assign(size, kStart[2]);
    stats.high.assign(size, kStart[3]);
    for (int parcel = 0; parcel < parcels_; ++parcel) {
      for (std::size_t c = 0; c < size; ++c) {
        const float* p =
            data_.data() + (std::size_t(parcel) * panels_ + c / kPanel) * kStatsFloats + c % kPanel;
        stats.sum[c] += p[0];
        stats.sum_of_squares[c] += p[kPanel];
        stats.low[c] = std::min(stats.low[c], p[2 * kPanel]);
        stats.high[c] = std::max(stats.high[c], p[3 * kPanel]);
      }
    }
  }

 private:
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr float kStart[4] = {0.0f, 0.0f, kInfinity, -kInfinity};
  int parcels_;
  int panels_;
  std::vector<float> data_;
};

}  // namespace bitcycle::integer
