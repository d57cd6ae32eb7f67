#include "bitcycle/nn/quant_linear.h"

#include "bitcycle/quant/layer_function.h"
#include "bitcycle/quant/quantizer.h"

#include "nn/print_bits.h"

namespace bitcycle {

QuantLinearImpl::QuantLinearImpl(torch::nn::LinearOptions options_) : options(std::move(options_)) {
  reset();
}

// As torch::nn::Linear starts: uniform within 1/sqrt(in).
void QuantLinearImpl::reset() {
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.in_features()));
  weight = register_parameter(
      "weight", at::empty({options.out_features(), options.in_features()}).uniform_(-bound, bound));
  if (options.bias()) {
    bias = register_parameter("bias", at::empty({options.out_features()}).uniform_(-bound, bound));
  }
  register_range(*this);
}

void QuantLinearImpl::pretty_print(std::ostream& stream) const {
  stream << "bitcycle::QuantLinear(" << options.in_features() << ", " << options.out_features()
         << ", " << bits() << ")";
}

at::Tensor QuantLinearImpl::forward(const at::Tensor& x) {
  LayerCall call{bits(), {}, noise()};
  if (call.bits.activation != 0) {
    call.input_range = input_range([&] { return tensor_range(x); }, is_training());
  }
  const at::Tensor y = quantized_linear(x, weight, call);
  return bias.defined() ? y + bias : y;
}

}  // namespace bitcycle
