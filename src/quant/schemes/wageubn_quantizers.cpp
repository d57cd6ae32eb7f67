#include "quant/schemes/wageubn_quantizers.h"

#include "bitcycle/quant/quantizer.h"

#include "quant/dense.h"

#include <algorithm>
#include <cmath>

namespace bitcycle::wageubn {
namespace {

// 1 / d(k).
double steps_of_one(int bits) {
  return std::exp2(bits - 1);
}

double largest_weight(int bits) {
  return 1 - 1 / steps_of_one(bits);
}

}  // namespace

double direct(double x, int bits) {
  return std::nearbyint(x * steps_of_one(bits)) / steps_of_one(bits);
}
at::Tensor direct(const at::Tensor& x, int bits) {
  return (x * steps_of_one(bits)).round_().div_(steps_of_one(bits));
}

double clipped(double x, int bits) {
  return std::clamp(direct(x, bits), -largest_weight(bits), largest_weight(bits));
}
at::Tensor clipped(const at::Tensor& x, int bits) {
  return direct(x, bits).clamp_(-largest_weight(bits), largest_weight(bits));
}

double power_near_largest(const at::Tensor& x) {
  const double largest = x.numel() == 0 ? 0 : x.abs().max().item<double>();
  constexpr double kScalable = 0x1p-100;  // what is smaller counts as 0: its inverse overflows
  if (largest < kScalable) return 0;
  return std::isfinite(largest) ? std::exp2(std::nearbyint(std::log2(largest))) : NAN;
}

at::Tensor shift(const at::Tensor& x, int bits, ShiftBound bound) {
  const double r = power_near_largest(x);
  if (r == 0) return at::zeros_like(x);
  const double most = bound == ShiftBound::one ? 1 : largest_weight(bits);
  return direct(x / r, bits).clamp_(-most, most).mul_(r);
}

at::Tensor flag(const at::Tensor& x, int bits) {
  const double s = power_near_largest(x) / steps_of_one(bits);
  if (s == 0) return at::zeros_like(x);
  const at::Tensor y = (x / s).abs_();
  const at::Tensor small = direct(y, bits).clamp_max_(1);
  const at::Tensor large = y.round().clamp_max_(steps_of_one(bits) - 1);
  return at::where(y < 1, small, large).mul_(x.sign()).mul_(s);
}

at::Tensor stochastic_levels(const at::Tensor& x, double levels, NoiseKey noise) {
  const double r = power_near_largest(x);
  const at::Tensor input = dense(x);
  if (r == 0) return at::zeros_like(input);
  const at::Tensor y = input.abs().mul_(levels / r), whole = y.floor();
  const at::Tensor up = (y - whole).gt(noise_like(input, noise).add_(0.5));
  return (whole + up).clamp_max_(levels - 1).mul_(input.sign());
}

}  // namespace bitcycle::wageubn
