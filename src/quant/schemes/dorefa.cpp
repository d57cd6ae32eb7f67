// DoReFa (Zhou et al. 2016), as in tensorpack: q_k(r) = rne((2^k - 1) r) / (2^k - 1) for r in 0..1.
// Only the rounding is straight through; tanh, the division by the largest weight and the clip are
// differentiated (docs/numerics.md).

#include "bitcycle/quant/quantizer.h"
#include "bitcycle/quant/schemes.h"

#include "quant/dense.h"
#include "quant/weight_gradient.h"

#include <cmath>
#include <numeric>
#include <vector>

namespace bitcycle {
namespace {

constexpr int kFullBits = 32;        // as they are
constexpr double kSmallest = 1e-30;  // in place of a largest value of 0

double levels(int bits) {
  return std::exp2(bits) - 1;
}

// q_k.
at::Tensor rounded(const at::Tensor& r, int bits) {
  return (r * levels(bits)).round_().div_(levels(bits));
}

at::Tensor largest_magnitude(const at::Tensor& x) {
  return x.abs().max().clamp_min(kSmallest);
}

// Of all values; does not depend on the number of threads.
at::Tensor sum_of(const at::Tensor& x) {
  return sum_over_shards(x.size(0), [&](std::int64_t first, std::int64_t count) {
    return x.narrow(0, first, count).sum(at::kDouble);
  });
}

// E sign(w), E the mean magnitude; 0 counts as positive.
at::Tensor one_bit(const at::Tensor& w) {
  const auto mean = (sum_of(w.abs()) / w.numel()).to(w.scalar_type());
  return at::where(w.isnan(), w, at::where(w < 0, -mean, mean));
}

// 2 q_k(t / (2 M) + 1/2) - 1 with t = tanh(w), M = max |t|.
at::Tensor quantize_by_tanh(const at::Tensor& weight, int bits) {
  const at::Tensor w = dense(weight);
  if (bits == kFullBits) return w;
  if (bits == 1) return one_bit(w);
  const at::Tensor t = w.tanh();
  return rounded(t / (2 * largest_magnitude(t)) + 0.5, bits).mul_(2).sub_(1);
}

// With e the gradient of the quantized weight: e (1 - t^2) / M, and where |t| is M in addition
// -(sum of e t) / M^2 sign(t) (1 - t^2), which several such places share.
at::Tensor gradient_by_tanh(const at::Tensor& gradient, const at::Tensor& weight, int bits) {
  if (bits == kFullBits || bits == 1) return gradient;
  const at::Tensor t = weight.tanh(), m = largest_magnitude(t), slope = 1 - t * t;
  const at::Tensor largest = (t.abs() == m).to(t.scalar_type());
  if (t.count_nonzero().item<std::int64_t>() == 0) return at::zeros_like(gradient);
  const at::Tensor pull = (sum_of(gradient * t) / largest.sum() / (m * m)).to(t.scalar_type());
  return (gradient / m - largest * t.sign() * pull) * slope;
}

at::Tensor quantize_clipped(const at::Tensor& x, Range, int bits) {
  return rounded(dense(x).clamp(0, 1), bits);
}

// As TensorFlow and LibTorch have it, the bounds themselves pass.
at::Tensor gradient_of_clip(const at::Tensor& gradient, const at::Tensor& x, Range, int) {
  return gradient * ((x >= 0) & (x <= 1));
}

// Per sample, with m its largest magnitude: 2 m (q_k(clip(e / (2 m) + 1/2 + u / (2^k - 1))) - 1/2).
at::Tensor quantize_by_sample(const at::Tensor& error, int bits, NoiseKey noise) {
  const at::Tensor e = dense(error);
  std::vector<std::int64_t> within(static_cast<std::size_t>(e.dim() - 1));
  std::iota(within.begin(), within.end(), 1);
  const at::Tensor twice = 2 * e.abs().amax(within, /*keepdim=*/true).clamp_min_(kSmallest);
  const at::Tensor places = e / twice + 0.5 + noise_like(e, noise) / levels(bits);
  return rounded(places.clamp(0, 1), bits).sub_(0.5).mul_(twice);
}

at::Tensor clip(const at::Tensor& x) {
  return x.clamp(0, 1);
}

}  // namespace

const Scheme& dorefa_scheme() {
  static const Scheme scheme{.name = "dorefa",
                             .weight = {quantize_by_tanh, gradient_by_tanh},
                             .activation = {{}, quantize_clipped, gradient_of_clip},
                             .error = quantize_by_sample,
                             .weight_error = {},
                             .weight_gradient = {},
                             .rectify = clip};
  return scheme;
}

}  // namespace bitcycle
