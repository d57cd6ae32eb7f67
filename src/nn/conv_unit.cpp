#include "bitcycle/nn/conv_unit.h"

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
  return executor_ != Executor::simulate && device.is_cpu() &&
         bitcycle::executable(executed_bits(conv->bits(), is_training())) &&
         executable(conv->options);
}

at::Tensor ConvUnitImpl::forward(const at::Tensor& x, const at::Tensor& residual) {
  if (executes(x.device())) return execute({x, {}, {}}, residual, Delivery::ready).output.values;
  return norm_activate(*norm, conv->forward(x), residual, activation);
}

IntegerUnitOutput ConvUnitImpl::execute(const UnitTensor& x, const at::Tensor& residual,
                                        Delivery delivery) {
  const integer::ConvShape shape = conv_shape(conv->options, x.values);
  if (weights_ == nullptr) weights_ = std::make_shared<integer::ConvWeights>(shape);
  return integer_unit(x, residual, conv->weight,
                      {.shape = shape,
                       .bits = conv->bits(),
                       .noise = conv->noise(),
                       .executor = executor_,
                       .activation = activation,
                       .delivery = delivery,
                       .input_range = unit_input_range(*conv, x, is_training()),
                       .weights = weights_,
                       .norm = {norm.get(), {}}});
}

}  // namespace bitcycle
