#pragma once

// Backward-weights: exact integer sums over the batch and all output pixels of (error - zero) *
// (input - zero), times a factor per output channel. Gradients are [out][k][k][in / groups].

#include "bitcycle/kernels/integer/conv.h"

namespace bitcycle::integer {

// The images of one kind, whose sums are kept apart: what their codes are, and what a sum is worth
// per output channel.
struct WeightKind {
  CodeParams input, errors;
  std::vector<double> factors;
};

// The sums of one call, which all threads of a parallel region gather together.
class WeightGradient {
 public:
  virtual ~WeightGradient() = default;

  // As many images as are best added at once.
  virtual int parcel() const = 0;
  // Called by every thread before it adds anything.
  virtual void enter() = 0;
  // Adds the products of some images of a kind, given the codes of the first.
  virtual void add(std::size_t kind, int images, const std::uint8_t* input,
                   const std::uint8_t* errors) = 0;
  // Called by every thread once all images have been added; shares the work. Gradients of kinds are
  // rounded to float each and added up in their order.
  virtual void finish(std::span<float> gradient) = 0;
};

std::unique_ptr<WeightGradient> dense_weight_gradient(const ConvShape& shape,
                                                      std::vector<WeightKind> kinds);
std::unique_ptr<WeightGradient> depthwise_weight_gradient(const ConvShape& shape,
                                                          std::vector<WeightKind> kinds);

}  // namespace bitcycle::integer
