#pragma once

// Backward-weights: exact integer sums over the batch and all output pixels of (error - zero) *
// (input - zero), times a factor per output channel. Gradients are [out][k][k][in / groups].

#include "bitcycle/kernels/integer/conv.h"

namespace bitcycle::integer {

// The sums of one call, which all threads of a parallel region gather together.
class WeightGradient {
 public:
  virtual ~WeightGradient() = default;

  // As many images as are best added at once.
  virtual int parcel() const = 0;
  // Called by every thread before it adds anything.
  virtual void enter() = 0;
  // Adds the products of some images, given the codes of the first.
  virtual void add(int images, const std::uint8_t* input, const std::uint8_t* errors) = 0;
  // Called by every thread once all images have been added; shares the work.
  virtual void finish(std::span<const double> factors, std::span<float> gradient) = 0;
};

std::unique_ptr<WeightGradient> dense_weight_gradient(const ConvShape& shape, CodeParams input,
                                                      CodeParams errors);
std::unique_ptr<WeightGradient> depthwise_weight_gradient(const ConvShape& shape, CodeParams input,
                                                          CodeParams errors);

}  // namespace bitcycle::integer
