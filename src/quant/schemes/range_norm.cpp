#include "quant/schemes/range_norm.h"

#include "bitcycle/quant/quantizer.h"
#include "bitcycle/quant/straight_through.h"

#include "quant/channels.h"
#include "quant/first_derivative.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

constexpr int kBits = 8;  // of the input, and of the error of the output
constexpr double kRangeEpsilon = 1e-5;
constexpr double kKept = 0.1;  // of the running statistics, by a step
constexpr std::int64_t kChunks = 16;

// Parts of a channel of so many values: 16, or fewer of two values.
std::int64_t chunks_of(std::int64_t count) {
  return std::clamp<std::int64_t>(count / 2, 1, kChunks);
}

// From the mean range of the chunks, n values each, to the spread of what is normally distributed:
// kappa / sqrt(2 ln n) with kappa = 0.5 * 0.35 * (1 + sqrt(pi ln 4)).
double spread_factor(std::int64_t count) {
  const double kappa = 0.5 * 0.35 * (1 + std::sqrt(std::numbers::pi * std::log(4.0)));
  const double n = static_cast<double>(count) / static_cast<double>(chunks_of(count));
  return kappa / std::sqrt(2 * std::log(std::max(n, 2.0)));
}

// [pixels, channels], which shares the memory of a dense tensor.
at::Tensor pixel_rows(const at::Tensor& x) {
  return x.permute({0, 2, 3, 1}).view({-1, x.size(1)});
}

// The extremes of each chunk: values, and in which pixel the first such value stands; both
// [chunks, channels].
struct Extremes {
  at::Tensor values, places;
};

template <typename Find>
Extremes extremes(const at::Tensor& rows, const Find& find) {
  const std::int64_t count = rows.size(0), chunks = chunks_of(count);
  std::vector<at::Tensor> values, places;
  for (std::int64_t i = 0; i < chunks; ++i) {
    const std::int64_t first = i * count / chunks, end = (i + 1) * count / chunks;
    const auto [value, place] = find(rows.narrow(0, first, end - first));
    values.push_back(value);
    places.push_back(place + first);
  }
  return {at::stack(values), at::stack(places)};
}

struct Spread {
  at::Tensor spread;             // per channel
  at::Tensor largest, smallest;  // places, see Extremes
};

Spread spread_of(const at::Tensor& x) {
  const at::Tensor rows = pixel_rows(x);
  const Extremes high = extremes(rows, [](const at::Tensor& chunk) { return chunk.max(0); });
  const Extremes low = extremes(rows, [](const at::Tensor& chunk) { return chunk.min(0); });
  return {(high.values.mean(0) - low.values.mean(0)) * spread_factor(rows.size(0)), high.places,
          low.places};
}

// Without a momentum, LibTorch's norms keep the mean over all batches; so does this one.
double kept_in_mean(const torch::nn::BatchNorm2dImpl& norm) {
  return 1 - 1 / static_cast<double>(norm.num_batches_tracked.item<std::int64_t>());
}

void track(torch::nn::BatchNorm2dImpl& norm, const at::Tensor& mean, const at::Tensor& spread) {
  if (!norm.options.track_running_stats()) return;
  norm.num_batches_tracked.add_(1);
  const double kept = norm.options.momentum() ? kKept : kept_in_mean(norm);
  norm.running_mean.mul_(kept).add_(mean, 1 - kept);
  norm.running_var.sqrt_().mul_(kept).add_(spread, 1 - kept).square_();
}

// out = gamma (x - mean) / (spread + epsilon) + beta. With e the error of the output, i = 1 /
// (spread + epsilon), N values per channel: gamma's gradient is d = sum of e (x - mean) i, the
// spread's -gamma i d, of which each chunk's extremes have their share; to every value goes
// gamma i (e - mean of e).
struct RangeNorm : Function<RangeNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& gamma,
                            const at::Tensor& beta, torch::nn::BatchNorm2dImpl* norm,
                            const Range& input_range, const NoiseKey& noise) {
    const at::Tensor input = dense(quantize_tensor(x, input_range, kBits));
    const at::Tensor mean = channel_moments(input).mean;
    const auto [spread, largest, smallest] = spread_of(input);
    track(*norm, mean, spread);
    const at::Tensor inverse = 1 / (spread + kRangeEpsilon);
    const at::Tensor normal = (input - per_channel(mean)).mul_(per_channel(inverse));
    context->save_for_backward({normal, inverse, gamma, largest, smallest});
    context->saved_data["noise"] =
        static_cast<std::int64_t>(std::uint64_t{noise.first} << 32 | std::uint64_t{noise.second});
    return normal * per_channel(gamma) + per_channel(beta);
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const auto saved = context->get_saved_variables();
    const at::Tensor &normal = saved[0], &inverse = saved[1], &gamma = saved[2];
    const auto packed = static_cast<std::uint64_t>(context->saved_data["noise"].toInt());
    const NoiseKey noise{static_cast<std::uint32_t>(packed >> 32),
                         static_cast<std::uint32_t>(packed)};
    const at::Tensor error = quantize_error(errors[0], kBits, noise);
    const std::int64_t count = values_per_channel(error);
    const at::Tensor of_beta = channel_sums(error), of_gamma = channel_sums(error * normal);
    const at::Tensor slope = gamma * inverse;
    const at::Tensor of_x = dense((error - per_channel(of_beta / count)).mul_(per_channel(slope)));
    const double share = spread_factor(count) / static_cast<double>(chunks_of(count));
    const at::Tensor of_extreme = (slope * of_gamma * -share).expand_as(saved[3]);
    pixel_rows(of_x).scatter_add_(0, saved[3], of_extreme).scatter_add_(0, saved[4], -of_extreme);
    return {of_x, of_gamma, of_beta, {}, {}, {}};
  }
};

// By the running statistics.
at::Tensor evaluated(const at::Tensor& x, const NormCall& call) {
  const auto& norm = call.norm;
  const at::Tensor input =
      straight_through(x, quantize_tensor(x.detach(), call.input_range, kBits));
  const at::Tensor inverse = 1 / (norm.running_var.sqrt() + kRangeEpsilon);
  return (input - per_channel(norm.running_mean)) * per_channel(inverse) *
             per_channel(norm.weight) +
         per_channel(norm.bias);
}

}  // namespace

at::Tensor range_norm(const at::Tensor& x, const NormCall& call) {
  if (!call.norm.is_training()) return evaluated(x, call);
  return RangeNorm::apply(x, call.norm.weight, call.norm.bias, &call.norm, call.input_range,
                          call.noise);
}

}  // namespace bitcycle
