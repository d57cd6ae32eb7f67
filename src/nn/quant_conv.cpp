#include "bitcycle/nn/quant_conv.h"

#include "bitcycle/base/error.h"
#include "bitcycle/quant/layer_function.h"

#include "nn/print_bits.h"

namespace bitcycle {
namespace {

template <typename Array>
std::vector<std::int64_t> list(const Array& array) {
  return {array->begin(), array->end()};
}

ConvGeometry geometry(const torch::nn::Conv2dOptions& options) {
  const auto* padding = get_if<torch::ExpandingArray<2>>(&options.padding());
  TORCH_CHECK(padding != nullptr,
              "QuantConv2d expects padding as numbers, found \"same\" or \"valid\"");
  return {list(options.stride()), list(*padding), list(options.dilation()), options.groups()};
}

}  // namespace

QuantConv2dImpl::QuantConv2dImpl(torch::nn::Conv2dOptions options_) : options(std::move(options_)) {
  TORCH_CHECK(get_if<torch::enumtype::kZeros>(&options.padding_mode()) != nullptr,
              "QuantConv2d pads with zeros; other padding modes are not supported");
  reset();
}

// As torch::nn::Conv2d starts: uniform within 1/sqrt(fan in).
void QuantConv2dImpl::reset() {
  const auto& kernel = *options.kernel_size();
  const std::int64_t fan_in = options.in_channels() / options.groups() * kernel[0] * kernel[1];
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
  weight = register_parameter(
      "weight", at::empty({options.out_channels(), options.in_channels() / options.groups(),
                           kernel[0], kernel[1]})
                    .uniform_(-bound, bound)
                    .contiguous(at::MemoryFormat::ChannelsLast));
  if (options.bias()) {
    bias = register_parameter("bias", at::empty({options.out_channels()}).uniform_(-bound, bound));
  }
  register_range(*this);
}

void QuantConv2dImpl::pretty_print(std::ostream& stream) const {
  stream << "bitcycle::QuantConv2d(" << options.in_channels() << ", " << options.out_channels()
         << ", kernel=" << options.kernel_size() << ", stride=" << options.stride() << ", "
         << bits() << ")";
}

at::Tensor QuantConv2dImpl::forward(const at::Tensor& x) {
  record_call("no ConvUnit around it");
  const LayerCall call = simulated_call(x, is_training(), next_noise());
  const at::Tensor y = quantized_conv2d(x, weight, geometry(options), call);
  return bias.defined() ? y + quantized_bias(bias, call).view({1, -1, 1, 1}) : y;
}

}  // namespace bitcycle
