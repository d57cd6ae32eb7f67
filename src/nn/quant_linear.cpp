#include "bitcycle/nn/quant_linear.h"

#include "bitcycle/kernels/integer/domain.h"
#include "bitcycle/quant/integer_unit.h"
#include "bitcycle/quant/layer_function.h"
#include "bitcycle/quant/quantizer.h"

#include "nn/integer_calls.h"
#include "nn/print_bits.h"
#include "nn/simulated_calls.h"

namespace bitcycle {

QuantLinearImpl::QuantLinearImpl(torch::nn::LinearOptions options_, WeightOwner owner)
    : options(std::move(options_)), owner_(owner) {
  reset();
}

// As torch::nn::Linear starts: uniform within 1/sqrt(in).
void QuantLinearImpl::reset() {
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.in_features()));
  if (owner_ == WeightOwner::layer) {
    weight = register_parameter(
        "weight",
        at::empty({options.out_features(), options.in_features()}).uniform_(-bound, bound));
  }
  if (options.bias()) {
    bias = register_parameter("bias", at::empty({options.out_features()}).uniform_(-bound, bound));
  }
  register_range(*this);
}

void QuantLinearImpl::pretty_print(std::ostream& stream) const {
  stream << "bitcycle::QuantLinear(" << options.in_features() << ", " << options.out_features()
         << ", " << bits() << ")";
}

std::shared_ptr<integer::ConvWeights> QuantLinearImpl::codes() {
  const integer::ConvShape shape{.in_channels = static_cast<int>(options.in_features()),
                                 .out_channels = static_cast<int>(options.out_features())};
  if (codes_ == nullptr) codes_ = std::make_shared<integer::ConvWeights>(shape);
  return codes_;
}

// The noise is drawn here, where the caller's grad mode still holds.
c10::intrusive_ptr<LinearCalls> QuantLinearImpl::calls(const at::Tensor& x, std::int64_t count) {
  std::vector<NoiseKey> noise;
  for (std::int64_t i = 0; i < count; ++i) noise.push_back(next_noise());
  const LayerCalls layer{*this, is_training(), weight, bias, std::move(noise)};
  if (!executes(x)) return c10::make_intrusive<SimulatedCalls>(layer);
  return c10::make_intrusive<IntegerCalls>(layer, executor_, codes());
}

// A fully connected layer is a 1x1 convolution on 1x1 pictures, and its bias a batch norm that does
// nothing else.
at::Tensor QuantLinearImpl::execute(const at::Tensor& x, const at::Tensor& weight_in_use) {
  const auto in = options.in_features(), out = options.out_features();
  const integer::ConvShape shape{.batch = static_cast<int>(x.numel() / in),
                                 .in_channels = static_cast<int>(in),
                                 .out_channels = static_cast<int>(out)};
  const UnitTensor input{x.reshape({-1, in, 1, 1}), {}, {}};
  const auto result = integer_unit(input, {}, weight_in_use.view({out, in, 1, 1}),
                                   {.shape = shape,
                                    .bits = bits(),
                                    .noise = next_noise(),
                                    .executor = executor_,
                                    .input_range = unit_input_range(*this, input, is_training()),
                                    .weights = codes(),
                                    .norm = {nullptr, bias}});
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes.back() = out;
  return result.output.values.reshape(sizes);
}

bool QuantLinearImpl::executes(const at::Tensor& x) const {
  return executor_ != Executor::simulate && x.is_cpu() &&
         integer::takes_widths(executed_bits(bits(), is_training())) &&
         integer::obstacle(
             {.in_channels = options.in_features(), .out_channels = options.out_features()})
             .empty();
}

at::Tensor QuantLinearImpl::forward(const at::Tensor& x, const at::Tensor& weight_in_use) {
  TORCH_CHECK(weight_in_use.defined(), "a tied QuantLinear is called with the weight it shares");
  if (executes(x)) return execute(x, weight_in_use);
  LayerCall call{bits(), {}, next_noise()};
  if (call.bits.activation != 0) {
    call.input_range = input_range([&] { return tensor_range(x); }, is_training());
  }
  const at::Tensor y = quantized_linear(x, weight_in_use, call);
  return bias.defined() ? y + bias : y;
}

}  // namespace bitcycle
