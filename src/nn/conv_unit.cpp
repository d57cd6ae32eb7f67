#include "bitcycle/nn/conv_unit.h"

#include "bitcycle/quant/integer_unit.h"
#include "bitcycle/quant/norm_function.h"

namespace bitcycle {
namespace {

int side(const torch::ExpandingArray<2>& pair) {
  return static_cast<int>(pair->at(0));
}

bool square(const torch::ExpandingArray<2>& pair) {
  return pair->at(0) == pair->at(1);
}

// The geometries of the integer kernels: odd square kernels that pad by half their size.
bool executable(const torch::nn::Conv2dOptions& options) {
  const auto* padding = c10::get_if<torch::ExpandingArray<2>>(&options.padding());
  return padding != nullptr && square(*padding) && square(options.kernel_size()) &&
         square(options.stride()) && !options.bias() && side(options.dilation()) == 1 &&
         side(options.kernel_size()) % 2 == 1 && side(*padding) == side(options.kernel_size()) / 2;
}

integer::ConvShape conv_shape(const torch::nn::Conv2dOptions& options, const at::Tensor& x) {
  return {.batch = static_cast<int>(x.size(0)),
          .height = static_cast<int>(x.size(2)),
          .width = static_cast<int>(x.size(3)),
          .in_channels = static_cast<int>(options.in_channels()),
          .out_channels = static_cast<int>(options.out_channels()),
          .kernel = side(options.kernel_size()),
          .stride = side(options.stride()),
          .groups = static_cast<int>(options.groups())};
}

}  // namespace

ConvUnitImpl::ConvUnitImpl(const ConvUnitOptions& options)
    : conv(register_module("conv", QuantConv2d(options.conv))),
      norm(register_module("norm", torch::nn::BatchNorm2d(options.conv.out_channels()))),
      activation(options.activation) {}

void ConvUnitImpl::pretty_print(std::ostream& stream) const {
  stream << "bitcycle::ConvUnit";
}

bool ConvUnitImpl::executes(const at::Device& device) const {
  LayerBits bits = conv->bits();
  if (!is_training()) bits.error = bits.activation;  // evaluation has no errors
  return executor_ == Executor::integer && device.is_cpu() && bitcycle::executable(bits) &&
         executable(conv->options);
}

at::Tensor ConvUnitImpl::forward(const at::Tensor& x, const at::Tensor& residual) {
  return forward(RangedTensor{x, std::nullopt}, residual).values;
}

RangedTensor ConvUnitImpl::forward(const RangedTensor& x, const at::Tensor& residual) {
  if (executes(x.values.device())) return execute(x, residual);
  return {norm_activate(*norm, conv->forward(x.values), residual, activation), std::nullopt};
}

RangedTensor ConvUnitImpl::execute(const RangedTensor& x, const at::Tensor& residual) {
  const integer::ConvShape shape = conv_shape(conv->options, x.values);
  if (weights_ == nullptr) weights_ = std::make_shared<integer::ConvWeights>(shape);
  const auto own_range = [&] {
    if (x.range) return *x.range;
    const integer::Range range = real_range(x.values);
    return Range{range.low, range.high};
  };
  const Range range = conv->input_range(own_range, is_training());
  integer::Range output_range;
  const auto added = residual.defined() ? c10::make_optional(residual) : c10::nullopt;
  const at::Tensor output = integer_unit(x.values, added, conv->weight,
                                         {.shape = shape,
                                          .bits = conv->bits(),
                                          .noise = conv->noise(),
                                          .activation = activation,
                                          .input_range = {range.lo, range.hi},
                                          .weights = weights_,
                                          .norm = norm.get(),
                                          .output_range = &output_range});
  return {output, Range{output_range.low, output_range.high}};
}

}  // namespace bitcycle
