#include "bitcycle/quant/norm_function.h"

#include "bitcycle/kernels/batch_norm.h"
#include "bitcycle/kernels/finite.h"

#include "quant/dense.h"
#include "quant/first_derivative.h"
#include "quant/norm_tracking.h"

#include <algorithm>
#include <cmath>

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

PixelShape pixel_shape(const at::Tensor& x) {
  return {x.numel() / x.size(1), x.size(1)};
}

std::span<const float> values_or_empty(const at::Tensor& x) {
  return x.defined() ? values(x) : std::span<const float>{};
}

// weight (x - mean) inverse + bias, written as one multiply-add.
struct Line {
  at::Tensor scale, shift;

  Line(const at::Tensor& mean, const at::Tensor& inverse, const at::Tensor& weight,
       const at::Tensor& bias)
      : scale(weight * inverse), shift(bias - mean * scale) {}

  at::Tensor activate(const at::Tensor& x, const at::Tensor& residual,
                      Activation activation) const {
    at::Tensor y = at::empty_like(x);
    scale_shift_activate(values(x), pixel_shape(x), values(scale), values(shift),
                         values_or_empty(residual), activation, values(y));
    return y;
  }
};

struct NormFunction : Function<NormFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const c10::optional<at::Tensor>& residual, const at::Tensor& weight,
                            const at::Tensor& bias, torch::nn::BatchNorm2dImpl* norm,
                            Activation activation) {
    const at::Tensor input = dense(x);
    ChannelStatistics statistics = channel_statistics(values(input), pixel_shape(input));
    // Note [Poison]: an infinite variance would normalise to 0.
    if (!all_finite(statistics.variance)) std::ranges::fill(statistics.variance, kNaN);
    const auto channels = static_cast<std::int64_t>(statistics.mean.size());
    const at::Tensor mean = at::from_blob(statistics.mean.data(), {channels}).clone();
    const at::Tensor variance = at::from_blob(statistics.variance.data(), {channels});
    const at::Tensor inverse = (variance + norm->options.eps()).rsqrt();
    track_statistics(*norm, statistics.mean, statistics.variance, input.numel() / channels);
    const at::Tensor added = residual ? dense(*residual) : at::Tensor();
    const Line line(mean, inverse, weight, bias);
    const at::Tensor y = line.activate(input, added, activation);
    // Of y the backward pass asks for its sign alone: with a residual it takes a byte, else the
    // input tells.
    const bool relu = activation == Activation::relu;
    const at::Tensor positive = relu && residual ? y.gt(0) : at::Tensor();
    context->save_for_backward({input, positive, mean, inverse, weight, line.scale, line.shift});
    context->saved_data["activation"] = static_cast<std::int64_t>(activation);
    context->saved_data["residual"] = residual.has_value();
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const auto saved = context->get_saved_variables();
    const at::Tensor error = dense(errors[0]), &input = saved[0];
    const auto activation = static_cast<Activation>(context->saved_data["activation"].toInt());
    at::Tensor dx = at::empty_like(input), dweight = at::empty_like(saved[4]),
               dbias = at::empty_like(saved[4]), dresidual;
    if (context->saved_data["residual"].toBool()) dresidual = at::empty_like(input);
    const at::Tensor y = saved[1].defined() ? saved[1].to(at::kFloat) : at::Tensor();
    batch_norm_backward(values(error), pixel_shape(input),
                        {values(input), values_or_empty(y), values(saved[2]), values(saved[3]),
                         values(saved[4]), activation, values(saved[5]), values(saved[6])},
                        {values(dx), dresidual.defined() ? values(dresidual) : std::span<float>{},
                         values(dweight), values(dbias)});
    return {dx, dresidual, dweight, dbias, {}, {}};
  }
};

// LibTorch's own operations, for any device.
at::Tensor portable_norm_activate(torch::nn::BatchNorm2dImpl& norm, const at::Tensor& x,
                                  const at::Tensor& residual, Activation activation) {
  at::Tensor y = norm.forward(x);
  if (residual.defined()) y = y + residual;
  return activation == Activation::relu ? y.relu() : y;
}

bool fused(const torch::nn::BatchNorm2dImpl& norm, const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kFloat && norm.weight.defined();
}

}  // namespace

at::Tensor norm_activate(torch::nn::BatchNorm2dImpl& norm, const at::Tensor& x,
                         const at::Tensor& residual, Activation activation) {
  if (!fused(norm, x)) return portable_norm_activate(norm, x, residual, activation);
  if (norm.is_training()) {
    const auto added = residual.defined() ? c10::make_optional(residual) : c10::nullopt;
    return NormFunction::apply(x, added, norm.weight, norm.bias, &norm, activation);
  }
  if (at::GradMode::is_enabled() || !norm.running_var.defined()) {
    return portable_norm_activate(norm, x, residual, activation);
  }
  const at::Tensor inverse = (norm.running_var + norm.options.eps()).rsqrt();
  return Line(norm.running_mean, inverse, norm.weight, norm.bias)
      .activate(dense(x), residual.defined() ? dense(residual) : residual, activation);
}

}  // namespace bitcycle
