#pragma once

// Convolution in integers, forward and backward, exact for every operand at 2 to 8 bits on either
// side, errors at up to 16. A kernel of odd size k pads by k/2; a fully connected layer is a 1x1
// convolution on 1x1 images. Threads (OpenMP's current number) split the batch, and no result
// depends on their number or on the instruction set.

#include "bitcycle/kernels/integer/tensor.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace bitcycle::integer {

struct ConvShape {
  int batch = 1;
  int height = 1;
  int width = 1;
  int in_channels = 1;
  int out_channels = 1;
  int kernel = 1;  // odd
  int stride = 1;
  int groups = 1;

  int pad() const { return kernel / 2; }
  int out_height() const { return (height - 1) / stride + 1; }
  int out_width() const { return (width - 1) / stride + 1; }
  int group_inputs() const { return in_channels / groups; }
  int group_outputs() const { return out_channels / groups; }
  bool depthwise() const { return groups > 1 && groups == in_channels && groups == out_channels; }
  // The codes of the input and of the output's errors; both carry a halo of pad().
  CodeGrid input_grid() const { return {batch, height, width, in_channels, pad()}; }
  CodeGrid error_grid() const { return {batch, out_height(), out_width(), out_channels, pad()}; }
  std::int64_t weights() const {
    return std::int64_t{out_channels} * group_inputs() * kernel * kernel;
  }
  // Images whose statistics are added up in float before they go into a double: one, or so many
  // that they have 64 pixels.
  int images_a_sum() const {
    if (groups > 1 && !depthwise()) return 1;
    const int pixels = out_height() * out_width();
    return std::clamp((64 + pixels - 1) / pixels, 1, batch);
  }
  std::int64_t macs() const { return std::int64_t{batch} * out_height() * out_width() * weights(); }
};

// A layer's weights as codes, packed for the instruction set in use. Built once a layer; quantize()
// refills it every step without allocating.
class ConvWeights {
 public:
  // `shape.batch`, height and width do not matter here. Throws Error(usage) for shapes that the
  // kernels do not take (domain.h).
  explicit ConvWeights(const ConvShape& shape);
  ~ConvWeights();
  ConvWeights(ConvWeights&&) noexcept;
  ConvWeights& operator=(ConvWeights&&) noexcept;

  // `weights` is [out][k][k][in / groups]; the range is taken per output channel.
  void quantize(std::span<const float> weights, int bits);

  int bits() const;
  // Per output channel: weight = scales[o] * (code + offsets[o]), codes in [-2^(bits-1),
  // 2^(bits-1)).
  std::span<const float> scales() const;
  std::span<const float> offsets() const;
  // [out][k][k][in / groups]
  std::span<const std::int8_t> codes() const;

  struct State;
  const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// Per output channel over batch, height and width, gathered while the convolution stores its
// output.
struct ChannelStats {
  std::vector<double> sum;
  std::vector<double> sum_of_squares;
  std::vector<float> low;
  std::vector<float> high;
};

// y = conv(x_q, w_q), dense NHWC.
void conv_forward(const ConvShape& shape, Codes input, const ConvWeights& weights,
                  MutableReal output, ChannelStats& stats);

// A kind: some images of a batch, ascending, which share scale and zero point.
struct ImageCodes {
  std::span<const int> images;
  Codes codes;  // of the whole batch's grid, though only these images are looked at
};
// The same of a batch whose images are of several kinds, each image of exactly one. Statistics: one
// partial sum per image, added up in the order of images, whatever their kinds. A single kind
// without a list has all images and is the call above.
void conv_forward(const ConvShape& shape, std::span<const ImageCodes> kinds,
                  const ConvWeights& weights, MutableReal output, ChannelStats& stats);

// The codes of a kind in the backward pass.
struct BackwardCodes {
  Codes input;  // for the weight gradient only; made once an image's input gradient is complete
  Codes errors;
  std::span<const int> images = {};  // ascending; empty: all
};

// Both backward products, image by image: codes that are made on the way serve both while they are
// in the cache. The errors had the weight scale folded in before they were quantized: the layer's
// error is e_q / scales[o].
struct ConvBackward {
  ConvShape shape;
  // An image is of one kind at most; of those without one nothing is read or written.
  std::vector<BackwardCodes> kinds;
  const ConvWeights& weights;
  MutableReal input_gradient;  // dense NHWC; may be empty
  // [out][k][k][in / groups]; may be empty. Each kind's is rounded to float, and they are added up
  // in the order of kinds.
  std::span<float> weight_gradient;
  float error_divisor = 1.0f;  // what the weight gradient's errors are divided by
  // Called when the input gradient of an image is complete, by the thread that made it; may be
  // empty.
  std::function<void(int image)> after_image = {};
};
void conv_backward(const ConvBackward& call);

}  // namespace bitcycle::integer
