#include "bitcycle/kernels/batch_norm.h"

#include "kernels/blocks.h"
#include "kernels/elementwise.h"

#include <cassert>

namespace bitcycle {
namespace {

// Elements of one block: sums inside a block are in float, across blocks in double, which keeps the
// error of a mean near that of one float rounding.
constexpr std::int64_t kBlockElements = 16384;

std::int64_t pixels_per_block(PixelShape shape) {
  return std::max<std::int64_t>(1, kBlockElements / shape.channels);
}

// Two sums per channel and block, added up in block order.
class PairedSums {
 public:
  explicit PairedSums(PixelShape shape)
      : channels_(shape.channels),
        blocks_(block_count(shape.pixels, pixels_per_block(shape))),
        parts_(2 * blocks_ * channels_) {}

  float* first(std::int64_t block) { return parts_.data() + 2 * block * channels_; }
  float* second(std::int64_t block) { return first(block) + channels_; }

  // Calls use(c, sum of firsts, sum of seconds) for every channel.
  template <typename Use>
  void total(const Use& use) {
    for (std::int64_t c = 0; c < channels_; ++c) {
      double a = 0, b = 0;
      for (std::int64_t block = 0; block < blocks_; ++block) {
        a += first(block)[c];
        b += second(block)[c];
      }
      use(c, a, b);
    }
  }

 private:
  std::int64_t channels_;
  std::int64_t blocks_;
  std::vector<float> parts_;
};

// The mask of a block whose first element is number `at`.
ReluMask relu_mask(const BatchNormSaved& saved, std::int64_t at) {
  if (saved.activation != Activation::relu) return {};
  if (saved.y.empty()) return {.scale = saved.scale.data(), .shift = saved.shift.data()};
  return {.y = saved.y.data() + at};
}

}  // namespace

ChannelStatistics channel_statistics(std::span<const float> x, PixelShape shape) {
  const auto& kernels = elementwise_kernels();
  PairedSums sums(shape);
  for_each_block(shape.pixels, pixels_per_block(shape), [&](Block block) {
    kernels.channel_sums(x.data() + block.begin * shape.channels, block.size(), shape.channels,
                         sums.first(block.index), sums.second(block.index));
  });
  ChannelStatistics statistics{std::vector<float>(shape.channels),
                               std::vector<float>(shape.channels)};
  const auto count = static_cast<double>(shape.pixels);
  sums.total([&](std::int64_t c, double sum, double square) {
    const double mean = sum / count;
    const double variance = square / count - mean * mean;
    statistics.mean[c] = static_cast<float>(mean);
    statistics.variance[c] = static_cast<float>(variance < 0 ? 0 : variance);
  });
  return statistics;
}

void scale_shift_activate(std::span<const float> x, PixelShape shape, std::span<const float> scale,
                          std::span<const float> shift, std::span<const float> residual,
                          Activation activation, std::span<float> y) {
  const auto& kernels = elementwise_kernels();
  for_each_block(shape.pixels, pixels_per_block(shape), [&](Block block) {
    const std::int64_t at = block.begin * shape.channels;
    kernels.scale_shift_activate(x.data() + at, residual.empty() ? nullptr : residual.data() + at,
                                 block.size(), shape.channels, scale.data(), shift.data(),
                                 activation, y.data() + at);
  });
}

// With g the masked error, m the number of pixels, r = 1/sqrt(var + eps), x^ = (x - mean) r:
//   dbias = sum g,  dweight = sum g x^,
//   dx = weight r (g - dbias / m - x^ dweight / m) = a g + b x + d.
void batch_norm_backward(std::span<const float> error, PixelShape shape,
                         const BatchNormSaved& saved, const BatchNormGradients& gradients) {
  const auto& kernels = elementwise_kernels();
  const bool stored = !gradients.residual.empty();
  PairedSums sums(shape);
  for_each_block(shape.pixels, pixels_per_block(shape), [&](Block block) {
    const std::int64_t at = block.begin * shape.channels;
    kernels.error_sums(error.data() + at, saved.x.data() + at, relu_mask(saved, at), block.size(),
                       shape.channels, saved.mean.data(),
                       stored ? gradients.residual.data() + at : nullptr, sums.first(block.index),
                       sums.second(block.index));
  });
  std::vector<float> a(shape.channels), b(shape.channels), d(shape.channels);
  const auto count = static_cast<double>(shape.pixels);
  sums.total([&](std::int64_t c, double error_sum, double product_sum) {
    const double inverse = saved.inverse[c], slope = saved.weight[c] * inverse;
    const double weight_gradient = product_sum * inverse;
    const double along = -slope * inverse * weight_gradient / count;
    gradients.bias[c] = static_cast<float>(error_sum);
    gradients.weight[c] = static_cast<float>(weight_gradient);
    a[c] = static_cast<float>(slope);
    b[c] = static_cast<float>(along);
    d[c] = static_cast<float>(-slope * error_sum / count - along * saved.mean[c]);
  });
  const float* masked = stored ? gradients.residual.data() : error.data();
  for_each_block(shape.pixels, pixels_per_block(shape), [&](Block block) {
    const std::int64_t at = block.begin * shape.channels;
    kernels.error_apply(masked + at, saved.x.data() + at,
                        stored ? ReluMask{} : relu_mask(saved, at), block.size(), shape.channels,
                        a.data(), b.data(), d.data(), gradients.x.data() + at);
  });
}

}  // namespace bitcycle
