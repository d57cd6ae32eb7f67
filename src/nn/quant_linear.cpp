#include "bitcycle/nn/quant_linear.h"

#include "bitcycle/quant/integer_linear.h"
#include "bitcycle/quant/layer_function.h"

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
  codes_.reset();  // a clone makes its own
}

void QuantLinearImpl::pretty_print(std::ostream& stream) const {
  stream << "bitcycle::QuantLinear(" << options.in_features() << ", " << options.out_features()
         << ", " << bits() << ")";
}

// To be asked before the call's noise is drawn.
std::shared_ptr<LinearCodes> QuantLinearImpl::codes_of_step() {
  if (codes_ == nullptr) {
    codes_ = std::make_shared<LinearCodes>(options.in_features(), options.out_features());
  }
  if (first_call() || !at::GradMode::is_enabled()) codes_->expire();
  return codes_;
}

// The noise is drawn here, where the caller's grad mode still holds.
c10::intrusive_ptr<LinearCalls> QuantLinearImpl::calls(const at::Tensor& x, std::int64_t count) {
  std::string reason = obstacle(x);
  const bool integers = reason.empty();
  record_call(std::move(reason));
  const auto codes = integers ? codes_of_step() : nullptr;
  std::vector<NoiseKey> noise;
  for (std::int64_t i = 0; i < count; ++i) noise.push_back(next_noise());
  const LayerCalls layer{*this, is_training(), weight, bias, std::move(noise)};
  if (!integers) return c10::make_intrusive<SimulatedCalls>(layer);
  return c10::make_intrusive<IntegerCalls>(layer, executor_, codes);
}

at::Tensor QuantLinearImpl::execute(const at::Tensor& x, const at::Tensor& weight_in_use) {
  const auto codes = codes_of_step();
  const at::Tensor input = x.to(at::kFloat);
  const Range range =
      unit_input_range(*this, {input.reshape({-1, x.size(-1), 1, 1}), {}, {}}, is_training());
  return integer_linear(input, weight_in_use, bias,
                        {.bits = bits(),
                         .noise = next_noise(),
                         .executor = executor_,
                         .input_range = range,
                         .codes = codes,
                         .observed = observed()})
      .to(x.scalar_type());
}

at::Tensor QuantLinearImpl::forward(const at::Tensor& x, const at::Tensor& shared_weight) {
  const at::Tensor& weight_in_use = shared_weight.defined() ? shared_weight : weight;
  TORCH_CHECK(weight_in_use.defined(), "a tied QuantLinear is called with the weight it shares");
  record_call(obstacle(x));
  if (last_call().kind == Execution::Kind::executed) return execute(x, weight_in_use);
  const LayerCall call = simulated_call(x, is_training(), next_noise());
  const at::Tensor y = quantized_linear(x, weight_in_use, call);
  return bias.defined() ? y + quantized_bias(bias, call) : y;
}

}  // namespace bitcycle
