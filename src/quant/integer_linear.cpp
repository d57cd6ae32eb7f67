#include "bitcycle/quant/integer_linear.h"

#include "quant/dense.h"
#include "quant/first_derivative.h"
#include "quant/linear_products.h"
#include "quant/observe.h"

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct LinearState : torch::CustomClassHolder {
  IntegerLinearCall call;
  integer::CodeParams input;
  std::vector<std::int64_t> sizes;  // of x
};

at::Tensor room_for_rows(std::int64_t rows, std::int64_t width, int bits) {
  const std::size_t bytes =
      integer::row_code_bytes(static_cast<int>(rows), static_cast<int>(width), bits);
  return at::empty({static_cast<std::int64_t>(bytes)}, at::kByte);
}

integer::RowCodes rows_in(const at::Tensor& codes, std::int64_t rows, std::int64_t width,
                          const integer::CodeParams& params) {
  return {codes.data_ptr<std::uint8_t>(), static_cast<int>(rows), static_cast<int>(width), params};
}

at::Tensor bias_gradient(const std::vector<double>& sums) {
  at::Tensor gradient = at::empty({static_cast<std::int64_t>(sums.size())});
  std::ranges::transform(sums, values(gradient).begin(),
                         [](double sum) { return static_cast<float>(sum); });
  return gradient;
}

struct IntegerLinearFunction : Function<IntegerLinearFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const c10::optional<at::Tensor>& bias,
                            const c10::intrusive_ptr<LinearState>& state) {
    const IntegerLinearCall& call = state->call;
    const at::Tensor from = x.contiguous();
    const std::int64_t outputs = weight.size(0), inputs = weight.size(1);
    const std::int64_t rows = x.numel() / inputs;
    const auto& weights = call.codes->forward(weight, call.bits.weight);
    state->sizes = x.sizes().vec();
    state->input = integer::code_params(call.input_range, call.bits.activation);
    const at::Tensor codes = room_for_rows(rows, inputs, call.bits.activation);
    integer::quantize_rows(values(from), static_cast<int>(inputs), state->input,
                           codes.data_ptr<std::uint8_t>());
    const integer::RowCodes input_rows = rows_in(codes, rows, inputs, state->input);
    observe_forward(call.observed.get(), {weight, weights, values(from), input_rows},
                    call.input_range);
    std::vector<std::int64_t> sizes = state->sizes;
    sizes.back() = outputs;
    at::Tensor y = at::empty(sizes, x.options());
    const at::Tensor added = bias ? bias->contiguous() : at::Tensor();
    linear_products(call.executor)
        .forward(weights, input_rows, added.defined() ? values(added) : std::span<const float>(),
                 values(y));
    context->save_for_backward({weight, codes});
    context->saved_data["state"] = c10::IValue::make_capsule(state);
    context->saved_data["bias"] = bias.has_value();
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const auto capsule = context->saved_data["state"].toCapsule();
    const auto& state = static_cast<const LinearState&>(*capsule);
    const IntegerLinearCall& call = state.call;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& weight = saved[0];
    const std::int64_t outputs = weight.size(0), inputs = weight.size(1);
    const at::Tensor gradient = errors[0].contiguous();
    const std::int64_t rows = gradient.numel() / outputs;
    const auto& weights = call.codes->backward(weight, call.bits.weight);
    const LinearProducts& products = linear_products(call.executor);
    const integer::ErrorStats stats = integer::error_stats(values(gradient), weights);
    const integer::CodeParams params = integer::code_params(stats.range, call.bits.error);
    const at::Tensor codes = room_for_rows(rows, outputs, call.bits.error);
    integer::quantize_errors(values(gradient), weights, params, call.noise,
                             codes.data_ptr<std::uint8_t>());
    const integer::RowCodes error_rows = rows_in(codes, rows, outputs, params);
    observe_backward(call.observed.get(), {weight, weights, values(gradient), error_rows});
    at::Tensor dx, dw = at::empty(weight.sizes(), weight.options());
    if (context->needs_input_grad(0)) {
      dx = at::empty(state.sizes, gradient.options());
      products.input_gradient(weights, error_rows, values(dx));
    }
    products.weight_gradient(weights, {rows_in(saved[1], rows, inputs, state.input), error_rows},
                             values(dw));
    const bool biased = context->saved_data["bias"].toBool();
    return {dx, dw, biased ? bias_gradient(stats.sums) : at::Tensor(), {}};
  }
};

}  // namespace

LinearCodes::LinearCodes(std::int64_t inputs, std::int64_t outputs)
    : weights_(std::make_unique<integer::LinearWeights>(integer::LinearShape{
          .inputs = static_cast<int>(inputs), .outputs = static_cast<int>(outputs)})) {}
LinearCodes::~LinearCodes() = default;

bool LinearCodes::hold(const at::Tensor& weight, int bits) const {
  return weights_->bits() == bits && data_ == weight.data_ptr() &&
         version_ == static_cast<std::int64_t>(weight._version());
}

void LinearCodes::quantize(const at::Tensor& weight, int bits) {
  const at::Tensor source = weight.contiguous();
  weights_->quantize(values(source), bits);
  data_ = weight.data_ptr();
  version_ = static_cast<std::int64_t>(weight._version());
}

const integer::LinearWeights& LinearCodes::forward(const at::Tensor& weight, int bits) {
  if (!fresh_ || !hold(weight, bits)) quantize(weight, bits);
  fresh_ = true;
  return *weights_;
}

const integer::LinearWeights& LinearCodes::backward(const at::Tensor& weight, int bits) {
  if (!hold(weight, bits)) quantize(weight, bits);
  fresh_ = false;
  return *weights_;
}

at::Tensor integer_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          const IntegerLinearCall& call) {
  auto state = c10::make_intrusive<LinearState>();
  state->call = call;
  return IntegerLinearFunction::apply(
      x, weight, bias.defined() ? c10::make_optional(bias) : c10::nullopt, state);
}

}  // namespace bitcycle
