// WAGEUBN (Yang et al. 2020). Lite: as the CPT authors' group uses it, with batch norm and
// optimizer in float. Full: as its own authors' code has it. Equations in docs/numerics.md.

#include "bitcycle/quant/schemes.h"

#include "quant/dense.h"
#include "quant/schemes/wageubn_norm.h"
#include "quant/schemes/wageubn_quantizers.h"

#include <cmath>

namespace bitcycle {
namespace {

using wageubn::ShiftBound;

constexpr double kLevels = 128;  // of weight gradients: those of 8 bits, whatever the bits
constexpr int kGradientBits = 15, kMomentumBits = 13, kParameterBits = 24, kStartBits = 16,
              kRateBits = 10;

at::Tensor quantize_weights(const at::Tensor& weight, int bits) {
  return wageubn::clipped(dense(weight), bits);
}
at::Tensor quantize_input(const at::Tensor& x, Range, int bits) {
  return wageubn::direct(dense(x), bits);
}

at::Tensor shifted(const at::Tensor& error, int bits, NoiseKey) {
  return wageubn::shift(dense(error), bits, ShiftBound::one);
}
at::Tensor shifted_lite(const at::Tensor& error, int bits, NoiseKey) {
  return wageubn::shift(dense(error), bits, ShiftBound::one_step_less);
}
at::Tensor flagged(const at::Tensor& error, int bits, NoiseKey) {
  return wageubn::flag(dense(error), bits);
}

at::Tensor weight_gradient_lite(const at::Tensor& gradient, int, NoiseKey noise) {
  return wageubn::stochastic_levels(gradient, kLevels, noise).div_(kLevels);
}

// Levels of weight gradients over the run: the paper's 100 epochs have 128, from the 60th on 32,
// from the 80th on 8, and from the 90th on 2.
double levels_at(double progress) {
  if (progress < 0.6) return kLevels;
  if (progress < 0.8) return 32;
  return progress < 0.9 ? 8 : 2;
}

at::Tensor gradient(const at::Tensor& gradient, const ParameterUpdate& update) {
  if (update.role == ParameterUpdate::Role::norm) {
    return wageubn::direct(gradient, kGradientBits);
  }
  const at::Tensor y =
      wageubn::stochastic_levels(gradient, levels_at(update.progress), update.noise);
  return wageubn::direct(y / (kLevels * std::exp2(update.bits - 1)), kGradientBits);
}

template <int bits>
at::Tensor at_bits(const at::Tensor& x) {
  return wageubn::direct(x, bits);
}
double rate(double rate) {
  return wageubn::clipped(rate, kRateBits);
}

}  // namespace

const Scheme& wageubn_lite_scheme() {
  static const Scheme scheme{.name = "wageubn-lite",
                             .weight = {quantize_weights, {}},
                             .activation = {{}, quantize_input, {}},
                             .error = shifted_lite,
                             .weight_error = {},
                             .weight_gradient = weight_gradient_lite};
  return scheme;
}

const Scheme& wageubn_full_scheme() {
  static const Scheme scheme{.name = "wageubn-full",
                             .weight = {quantize_weights, {}},
                             .activation = {{}, quantize_input, {}},
                             .error = flagged,
                             .weight_error = {},
                             .weight_gradient = {},
                             .input_gradient = shifted,
                             .norm = {.range = {}, .average = {}, .apply = wageubn_norm},
                             .update = {.gradient = gradient,
                                        .momentum = at_bits<kMomentumBits>,
                                        .parameter = at_bits<kParameterBits>,
                                        .start = at_bits<kStartBits>,
                                        .rate = rate}};
  return scheme;
}

}  // namespace bitcycle
