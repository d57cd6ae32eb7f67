#pragma once

// What follows the exact sums of a convolution in the integer scheme, in scalar code: one real an
// element, and the statistics of its channel.

#include "bitcycle/kernels/integer/conv.h"
#include "bitcycle/quant/torch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace bitcycle {

inline void write(integer::MutableReal to, std::int64_t i, float value) {
  if (to.type == integer::Real::f32) {
    static_cast<float*>(to.data)[i] = value;
  } else {
    static_cast<integer::Half*>(to.data)[i] = integer::to_half(value);
  }
}

// fma(offset[c], box, sum) * scale[c] of every element; `boxes` has one entry a pixel or a channel.
template <typename Sink>
void each_result(const at::Tensor& sums, const at::Tensor& boxes, std::span<const float> offsets,
                 std::span<const float> scales, Sink sink) {
  const auto channels = sums.size(3);
  const bool shared = boxes.size(3) == 1;
  const auto repeat = channels / boxes.size(3);
  const float* sum = sums.data_ptr<float>();
  const float* box = boxes.data_ptr<float>();
  for (std::int64_t pixel = 0; pixel < sums.numel() / channels; ++pixel) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const float b = shared ? box[pixel] : box[pixel * boxes.size(3) + c / repeat];
      const auto k = static_cast<std::size_t>(c);
      sink(pixel, c, std::fma(offsets[k], b, sum[pixel * channels + c]) * scales[k]);
    }
  }
}

// Partial sums in float over groups of images, added up in double.
class Statistics {
 public:
  Statistics(const integer::ConvShape& s, int images_a_sum, integer::ChannelStats& stats)
      : stats_(stats), pixels_(std::int64_t{images_a_sum} * s.out_height() * s.out_width()) {
    const auto size = static_cast<std::size_t>(s.out_channels);
    sum_.resize(size);
    squares_.resize(size);
    stats.sum.assign(size, 0.0);
    stats.sum_of_squares.assign(size, 0.0);
    stats.low.assign(size, std::numeric_limits<float>::infinity());
    stats.high.assign(size, -std::numeric_limits<float>::infinity());
  }
  void add(std::int64_t pixel, std::int64_t channel, float value) {
    if (channel == 0 && pixel % pixels_ == 0) flush();
    const auto c = static_cast<std::size_t>(channel);
    sum_[c] += value;
    squares_[c] = std::fma(value, value, squares_[c]);
    stats_.low[c] = std::min(stats_.low[c], value);
    stats_.high[c] = std::max(stats_.high[c], value);
  }
  void flush() {
    for (std::size_t c = 0; c < sum_.size(); ++c) {
      stats_.sum[c] += std::exchange(sum_[c], 0.0f);
      stats_.sum_of_squares[c] += std::exchange(squares_[c], 0.0f);
    }
  }

 private:
  integer::ChannelStats& stats_;
  std::int64_t pixels_;
  std::vector<float> sum_, squares_;
};

}  // namespace bitcycle
