#include "bitcycle/nn/conv_unit.h"

#include "bitcycle/quant/norm_function.h"

namespace bitcycle {

ConvUnitImpl::ConvUnitImpl(const ConvUnitOptions& options)
    : conv(register_module("conv", QuantConv2d(options.conv))),
      norm(register_module("norm", torch::nn::BatchNorm2d(options.conv.out_channels()))),
      activation(options.activation) {}

void ConvUnitImpl::pretty_print(std::ostream& stream) const {
  stream << "bitcycle::ConvUnit";
}

at::Tensor ConvUnitImpl::forward(const at::Tensor& x, const at::Tensor& residual) {
  return norm_activate(*norm, conv->forward(x), residual, activation);
}

}  // namespace bitcycle
