#include "quant/schemes/wageubn_norm.h"

#include "bitcycle/quant/straight_through.h"

#include "quant/channels.h"
#include "quant/first_derivative.h"
#include "quant/schemes/wageubn_quantizers.h"

#include <algorithm>

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

constexpr int kMomentBits = 16, kNormalBits = 8, kAffineBits = 8;
constexpr double kEpsilon = 0x1p-15;
constexpr double kTaken = 0.003;  // of a step, by the running statistics

// The first steps are averaged: from zero, some thousand steps would have to pass.
void track(torch::nn::BatchNorm2dImpl& norm, const ChannelMoments& moments) {
  if (!norm.options.track_running_stats()) return;
  norm.num_batches_tracked.add_(1);
  const auto steps = static_cast<double>(norm.num_batches_tracked.item<std::int64_t>());
  const double taken = std::max(kTaken, 1 / steps);
  norm.running_mean.mul_(1 - taken).add_(moments.mean, taken);
  norm.running_var.mul_(1 - taken).add_(moments.variance, taken);
}

// What the moments come to: x is normalised as (x - mean) inverse.
struct Normaliser {
  at::Tensor mean, inverse;
};

Normaliser normaliser(const ChannelMoments& moments) {
  const at::Tensor deviation = wageubn::direct(moments.variance.sqrt(), kMomentBits) + kEpsilon;
  return {wageubn::direct(moments.mean, kMomentBits), 1 / deviation};
}

// All quantizers are straight through. With e the error of the output, n the normalised input
// before it is quantized, s the deviation before it is, i the inverse and N values per channel:
// the deviation's gradient is -gamma i (sum of e n), of which a value has (x - mean) / (N s).
struct WageubnNorm : Function<WageubnNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& gamma,
                            const at::Tensor& beta, torch::nn::BatchNorm2dImpl* norm) {
    const at::Tensor input = dense(x);
    const ChannelMoments moments = channel_moments(input);
    track(*norm, moments);
    const auto [mean, inverse] = normaliser(moments);
    const at::Tensor normal = (input - per_channel(mean)).mul_(per_channel(inverse));
    const at::Tensor quantized = wageubn::direct(normal, kNormalBits);
    const at::Tensor scale = wageubn::direct(gamma, kAffineBits);
    context->save_for_backward(
        {input, normal, quantized, inverse, scale, moments.mean, moments.variance});
    return quantized * per_channel(scale) + per_channel(wageubn::direct(beta, kAffineBits));
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const auto saved = context->get_saved_variables();
    const at::Tensor &input = saved[0], &normal = saved[1], &mean = saved[5];
    const at::Tensor error = dense(errors[0]), slope = saved[4] * saved[3];
    const std::int64_t count = values_per_channel(error);
    const at::Tensor of_beta = channel_sums(error), of_gamma = channel_sums(error * saved[2]);
    const at::Tensor of_deviation = slope * channel_sums(error * normal);
    const at::Tensor deviation = saved[6].sqrt();
    const at::Tensor share =
        at::where(deviation > 0, of_deviation / (deviation * count), at::zeros_like(deviation));
    const at::Tensor of_x = (error - per_channel(of_beta / count)).mul_(per_channel(slope)) -
                            (input - per_channel(mean)).mul_(per_channel(share));
    return {of_x, of_gamma, of_beta, {}};
  }
};

// By the running statistics.
at::Tensor evaluated(const at::Tensor& x, const torch::nn::BatchNorm2dImpl& norm) {
  const auto [mean, inverse] = normaliser({norm.running_mean, norm.running_var});
  const at::Tensor normal = (x - per_channel(mean)) * per_channel(inverse);
  const auto rounded = [](const at::Tensor& value, int bits) {
    return straight_through(value, wageubn::direct(value.detach(), bits));
  };
  return rounded(normal, kNormalBits) * per_channel(rounded(norm.weight, kAffineBits)) +
         per_channel(rounded(norm.bias, kAffineBits));
}

}  // namespace

at::Tensor wageubn_norm(const at::Tensor& x, const NormCall& call) {
  if (!call.norm.is_training()) return evaluated(x, call.norm);
  return WageubnNorm::apply(x, call.norm.weight, call.norm.bias, &call.norm);
}

}  // namespace bitcycle
