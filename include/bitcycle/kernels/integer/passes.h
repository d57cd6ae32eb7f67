#pragma once

// The elementwise work between two integer convolutions, fused so that each tensor is read as few
// times as the ranges allow. Forward, from a convolution's output y to the next one's codes:
//
//   x = activation(scale[c] * y + shift[c] + residual)     batch norm, residual, ReLU
//   codes = quantize(x)
//
// Without a residual the range of x follows from the channel statistics of y (activation_range), so
// quantizing is the only pass. With one, activate() stores x and finds its range on the way, and
// x is quantized in place of y.
// Backward, from the gradient of x to the errors of the convolution:
//
//   g = (gradient + residual + per_channel) where x > 0    GradientPass
//   e = a[c] * g + b[c] * y + c[c]                         error_bounds(), ErrorCodes
//
// All tensors are dense NHWC and share one type. Quantizing is done image by image, by those who
// need the codes (code_makers.h). Threads split the batch; results do not depend on their number.

#include "bitcycle/base/random.h"
#include "bitcycle/kernels/integer/conv.h"

#include <memory>
#include <span>
#include <vector>

namespace bitcycle::integer {

struct GradientPlan;

enum class Rectify { none, relu };

struct ActivationSource {
  RealView y;
  RealView residual;             // may be empty
  std::span<const float> scale;  // per channel; empty: 1
  std::span<const float> shift;  // per channel; empty: 0
  Rectify activation = Rectify::none;
};

// Bytes of a bit mask over the elements of a grid: 16 channels take two bytes, each pixel starts
// anew.
std::size_t mask_bytes(const CodeGrid& grid);

// Whether y, stored as `type`, is finite throughout, from its statistics: a NaN stays in sums, and
// halves overflow at the ends.
bool finite(const ChannelStats& stats, Real type);

// The range of x from y's statistics: the map is monotonic in y for each channel. No residual.
Range activation_range(const ChannelStats& stats, const ActivationSource& source);

// Stores x in `output` and the bits of x > 0 in `mask`, where given, and returns the range of x.
// `output` may be the residual's own memory. `of_images`, where given, gets the range of each image
// as it is stored.
Range activate(const CodeGrid& grid, const ActivationSource& source, MutableReal output,
               std::uint8_t* mask, std::span<Range> of_images = {});

// The range of images together.
Range merged(std::span<const Range> ranges);

struct GradientSource {
  RealView gradient;
  RealView residual;  // gradient that reaches x by another way; may be empty
  RealView y;
  // Where x > 0: by the bits of `mask`, else by scale * y + shift > 0, else (both empty)
  // everywhere.
  const std::uint8_t* mask = nullptr;
  std::span<const float> scale;
  std::span<const float> shift;
  // [batch][channels]: what reaches x through its mean over pixels, divided by their number; added
  // to the gradient of every pixel. Empty: nothing.
  std::span<const float> per_channel = {};
};

struct GradientSums {
  std::vector<double> gradient;   // per channel: sum of g, the gradient of batch norm's shift
  std::vector<double> deviation;  // per channel: sum of g * (y - mean)
  std::vector<float> low, high;   // per channel: the range of g
};

// Whether g is finite throughout.
bool finite(const GradientSums& sums);

// Stores g in `output`, where given (it may be the gradient's own memory), and sums it up, image by
// image and in any order.
class GradientPass {
 public:
  GradientPass(const CodeGrid& grid, const GradientSource& source, std::span<const float> mean,
               MutableReal output = {});
  ~GradientPass();
  void run(int image);
  GradientSums sums() const;  // once all images have been run

 private:
  std::unique_ptr<const GradientPlan> plan_;
  std::vector<float> means_;
  MutableReal output_;
  std::size_t partial_size_;  // of an image: [sum, deviation, low, high][padded channels]
  std::vector<float> partial_;
};

// All images at once.
GradientSums gradient_sums(const CodeGrid& grid, const GradientSource& source,
                           std::span<const float> mean, MutableReal output);

// e = a * g + (b * y + c) per channel; a carries the weight scale that is folded into the errors.
struct ErrorSource {
  GradientSource source;
  std::span<const float> a;
  std::span<const float> b;  // empty: 0, and y is not read
  std::span<const float> c;  // empty: 0
};

// A range that holds all errors, from the ranges of g and of y, channel by channel: e varies with g
// mostly, so it is hardly wider than the errors' own, and saves a pass over them.
Range error_bounds(const GradientSums& sums, const ChannelStats& stats, const ErrorSource& source);

// Batch norm's coefficients. Forward: scale = gamma / sqrt(var + eps), shift = beta - mean * scale.
// Backward, for `count` elements a channel: a, b and c of ErrorSource with `fold` multiplied in.
// Running statistics do not depend on the batch, so no gradient flows through them.
enum class Statistics { batch, running };
struct BatchNorm {
  Statistics statistics = Statistics::batch;
  std::vector<float> mean;
  std::vector<float> variance;  // biased
  std::vector<float> inverse_deviation;
  std::vector<float> scale;
  std::vector<float> shift;
};
BatchNorm batch_norm_forward(const ChannelStats& stats, std::int64_t count,
                             std::span<const float> gamma, std::span<const float> beta,
                             double epsilon);

struct BatchNormGradient {
  std::vector<float> a, b, c;
  std::vector<float> gamma, beta;  // gradients of the parameters
};
BatchNormGradient batch_norm_backward(const BatchNorm& norm, const GradientSums& sums,
                                      std::int64_t count, std::span<const float> fold);

}  // namespace bitcycle::integer
