#include "bitcycle/nn/conv_unit.h"

#include "bitcycle/kernels/integer/domain.h"
#include "bitcycle/quant/integer_unit.h"
#include "bitcycle/quant/norm_function.h"

#include <array>
#include <utility>

namespace bitcycle {
namespace {

using Pair = std::array<std::int64_t, 2>;

Pair pair_of(const torch::ExpandingArray<2>& array) {
  return {array->at(0), array->at(1)};
}

// Padding by name ("same") has no number before the input is known; -1 is no padding that anybody
// takes.
Pair padding_of(const torch::nn::Conv2dOptions& options) {
  const auto* padding = get_if<torch::ExpandingArray<2>>(&options.padding());
  return padding != nullptr ? pair_of(*padding) : Pair{-1, -1};
}

integer::ConvRequest request_of(const torch::nn::Conv2dOptions& options, std::int64_t width) {
  return {.kernel = pair_of(options.kernel_size()),
          .stride = pair_of(options.stride()),
          .padding = padding_of(options),
          .dilation = pair_of(options.dilation()),
          .in_channels = options.in_channels(),
          .out_channels = options.out_channels(),
          .groups = options.groups(),
          .width = width};
}

integer::ConvShape conv_shape(const torch::nn::Conv2dOptions& options, const at::Tensor& x) {
  return {.batch = static_cast<int>(x.size(0)),
          .height = static_cast<int>(x.size(2)),
          .width = static_cast<int>(x.size(3)),
          .in_channels = static_cast<int>(options.in_channels()),
          .out_channels = static_cast<int>(options.out_channels()),
          .kernel = static_cast<int>(pair_of(options.kernel_size())[0]),
          .stride = static_cast<int>(pair_of(options.stride())[0]),
          .groups = static_cast<int>(options.groups())};
}

}  // namespace

ConvUnitImpl::ConvUnitImpl(const ConvUnitOptions& options)
    : conv(register_module("conv", QuantConv2d(options.conv))),
      norm(register_module("norm", torch::nn::BatchNorm2d(options.conv.out_channels()))),
      activation(options.activation) {
  conv->set_norm(norm.ptr());
}

void ConvUnitImpl::pretty_print(std::ostream& stream) const {
  stream << "bitcycle::ConvUnit";
}

void ConvUnitImpl::use_scheme(const std::shared_ptr<const Scheme>& scheme, Executor executor) {
  conv->use_scheme(scheme, executor);
  executor_ = executor;
  if (!scheme->norm.range) return;
  if (!keeps_norm_range_) {
    norm_range_.register_on(*norm, at::TensorOptions(norm->weight.device()));
  }
  keeps_norm_range_ = true;
  norm_range_.weights = scheme->norm.average;
}

// A bias is left to simulation: the unit's norm takes its place.
std::string ConvUnitImpl::obstacle(const at::Tensor& x) const {
  std::string reason = call_obstacle(*conv, executor_, x, training());
  if (!reason.empty()) return reason;
  if (conv->options.bias()) return "a bias (a unit has its norm for that)";
  return integer::obstacle(request_of(conv->options, x.size(3)));
}

at::Tensor ConvUnitImpl::forward(const at::Tensor& x, const at::Tensor& residual) {
  std::string reason = obstacle(x);
  if (reason.empty()) return execute({x}, {residual}, Delivery::ready).output.values;
  const at::Tensor y = conv->forward(x);
  conv->record_call(std::move(reason));
  return finish(y, residual);
}

at::Tensor ConvUnitImpl::finish(const at::Tensor& y, const at::Tensor& residual) {
  const Scheme& scheme = *conv->shared_scheme();
  const bool rectifies = scheme.rectify && activation == Activation::relu;
  const Activation left = rectifies ? Activation::none : activation;
  at::Tensor z;
  if (conv->in_float() || !scheme.norm.apply) {
    z = norm_activate(*norm, y, residual, left);
  } else {
    z = scheme.norm.apply(y, norm_call(y));
    if (residual.defined()) z = z + residual;
    if (left == Activation::relu) z = z.relu();
  }
  return rectifies ? scheme.rectify(z) : z;
}

NormCall ConvUnitImpl::norm_call(const at::Tensor& y) {
  NormCall call{*norm, {}, conv->noise_behind("norm")};
  const auto& range = conv->shared_scheme()->norm.range;
  if (!range) return call;
  norm_range_.start = conv->range_start();
  if (std::exchange(norm_step_, conv->steps_begun()) != conv->steps_begun()) {
    norm_range_.begin_step();
  }
  call.input_range = norm_range_.of_input([&] { return range(y); }, norm->is_training());
  return call;
}

IntegerUnitOutput ConvUnitImpl::execute(const UnitTensor& x, const UnitTensor& residual,
                                        Delivery delivery, ChannelMeans means) {
  conv->record_call("");
  const integer::ConvShape shape = conv_shape(conv->options, x.values);
  if (weights_ == nullptr) weights_ = std::make_shared<integer::ConvWeights>(shape);
  return integer_unit(x, residual, conv->weight,
                      {.shape = shape,
                       .bits = conv->bits(),
                       .choice = conv->choice(),
                       .noise = conv->next_noise(),
                       .executor = executor_,
                       .activation = activation,
                       .delivery = delivery,
                       .means = means,
                       .input_range = unit_input_range(*conv, x, training()),
                       .weights = weights_,
                       .norm = {norm.get(), {}},
                       .observed = conv->observed()});
}

}  // namespace bitcycle
