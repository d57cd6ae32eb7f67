#include "bitcycle/models/authors_convolution.h"

#include <cmath>

namespace bitcycle {
namespace {

constexpr double kMomentum = 0.9;
constexpr float kSmallestStep = 1e-8F;

enum class Rounding { nearest, stochastic };

// Shaped so that they broadcast against the tensor that they belong to.
struct Bounds {
  at::Tensor width, low;
};

at::Tensor broadcastable(const at::Tensor& values, const at::Tensor& x) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
  shape[0] = values.numel();
  return values.view(shape);
}

// Per slice of the first dimension, by the reductions with indices that the authors call.
Bounds slice_bounds(const at::Tensor& x) {
  const at::Tensor flat = x.flatten(1, -1);
  const at::Tensor low = broadcastable(std::get<0>(flat.min(-1)), x);
  const at::Tensor high = broadcastable(std::get<0>(flat.max(-1)), x);
  return {high - low, low};
}

// Of the whole tensor: the extremes of the samples' extremes.
Bounds tensor_bounds(const at::Tensor& x) {
  const at::Tensor flat = x.flatten(1, -1);
  const at::Tensor low = std::get<0>(std::get<0>(flat.min(-1)).min(0, /*keepdim=*/true));
  const at::Tensor high = std::get<0>(std::get<0>(flat.max(-1)).max(0, /*keepdim=*/true));
  return {broadcastable(high - low, x), broadcastable(low, x)};
}

at::Tensor quantized(const at::Tensor& x, const Bounds& bounds, int bits, Rounding rounding) {
  const double levels = std::exp2(bits) - 1;
  const at::Tensor step =
      at::max(bounds.width / levels, at::full({}, kSmallestStep).expand_as(bounds.width));
  at::Tensor q = x.clone();
  q.add_(-bounds.low).div_(step);
  if (rounding == Rounding::stochastic) q.add_(at::empty_like(q).uniform_(-0.5, 0.5));
  return q.clamp_(0, levels).round_().mul_(step).add_(bounds.low);
}

// Straight through: the gradient passes unchanged.
struct Quantize : torch::autograd::Function<Quantize> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x,
                            const Bounds& bounds, int bits) {
    return quantized(x, bounds, bits, Rounding::nearest);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& gradients) {
    return {gradients[0], {}, {}};
  }
};

struct QuantizeError : torch::autograd::Function<QuantizeError> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& y,
                            std::int64_t bits) {
    context->saved_data["bits"] = bits;
    return y;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto bits = static_cast<int>(context->saved_data["bits"].toInt());
    const at::Tensor& error = gradients[0];
    return {quantized(error, tensor_bounds(error), bits, Rounding::stochastic), {}};
  }
};

void follow(at::Tensor& running, const at::Tensor& value) {
  running.mul_(kMomentum).add_(value.flatten() * (1 - kMomentum));
}

at::Tensor quantized_input(const at::Tensor& x, int bits, AuthorsRange& running) {
  Bounds bounds;
  {
    const at::NoGradGuard no_gradient;
    bounds = tensor_bounds(x);
    follow(running.low, bounds.low);
    follow(running.width, bounds.width);
  }
  return Quantize::apply(x, bounds, bits);
}

at::Tensor quantized_weight(const at::Tensor& weight, int bits) {
  Bounds bounds;
  {
    const at::NoGradGuard no_gradient;
    bounds = slice_bounds(weight);
  }
  return Quantize::apply(weight, bounds, bits);
}

}  // namespace

at::Tensor authors_convolution(const at::Tensor& x, const at::Tensor& weight,
                               const ConvGeometry& geometry, const LayerBits& bits,
                               AuthorsRange& running) {
  const at::Tensor y = at::conv2d(quantized_input(x, bits.activation, running),
                                  quantized_weight(weight, bits.weight), {}, geometry.stride,
                                  geometry.padding, geometry.dilation, geometry.groups);
  return bits.error == 0 ? y : QuantizeError::apply(y, std::int64_t{bits.error});
}

}  // namespace bitcycle
