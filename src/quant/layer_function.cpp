#include "bitcycle/quant/layer_function.h"

#include "bitcycle/quant/quantizer.h"

#include "quant/dense.h"
#include "quant/steady_product.h"
#include "quant/weight_gradient.h"

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

at::Tensor quantized_input(const at::Tensor& x, const LayerCall& call) {
  return call.bits.activation == 0 ? dense(x)
                                   : quantize_tensor(x, call.input_range, call.bits.activation);
}

at::Tensor quantized_weight(const at::Tensor& weight, const LayerCall& call) {
  return call.bits.weight == 0 ? dense(weight) : quantize_weight(weight, call.bits.weight);
}

// What backward needs beyond the two saved tensors travels as a list of integers.
void save_error_call(AutogradContext* context, const LayerCall& call) {
  context->saved_data["error"] = std::vector<std::int64_t>{
      call.bits.error, std::int64_t{call.noise.first}, std::int64_t{call.noise.second}};
}

at::Tensor quantized_output_error(AutogradContext* context, const at::Tensor& error) {
  const auto saved = context->saved_data["error"].toIntVector();
  if (saved[0] == 0) return dense(error);
  return quantize_error(
      error, static_cast<int>(saved[0]),
      {static_cast<std::uint32_t>(saved[1]), static_cast<std::uint32_t>(saved[2])});
}

struct ConvFunction : Function<ConvFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const ConvGeometry& geometry, const LayerCall& call) {
    const at::Tensor input = quantized_input(x, call), weights = quantized_weight(weight, call);
    context->save_for_backward({input, weights});
    context->saved_data["stride"] = geometry.stride;
    context->saved_data["padding"] = geometry.padding;
    context->saved_data["dilation"] = geometry.dilation;
    context->saved_data["groups"] = geometry.groups;
    save_error_call(context, call);
    return at::conv2d(input, weights, {}, geometry.stride, geometry.padding, geometry.dilation,
                      geometry.groups);
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &input = saved[0], &weights = saved[1];
    const ConvGeometry geometry{
        context->saved_data["stride"].toIntVector(), context->saved_data["padding"].toIntVector(),
        context->saved_data["dilation"].toIntVector(), context->saved_data["groups"].toInt()};
    const at::Tensor error = quantized_output_error(context, errors[0]);
    at::Tensor input_gradient, weight_gradient;
    if (context->needs_input_grad(0)) {
      input_gradient = std::get<0>(products(error, input, weights, geometry, {true, false, false}));
    }
    if (context->needs_input_grad(1)) {
      weight_gradient = sum_over_shards(input.size(0), [&](std::int64_t first, std::int64_t count) {
        return std::get<1>(products(error.narrow(0, first, count), input.narrow(0, first, count),
                                    weights, geometry, {false, true, false}));
      });
    }
    return {input_gradient, weight_gradient, {}, {}};
  }

  static std::tuple<at::Tensor, at::Tensor, at::Tensor> products(const at::Tensor& error,
                                                                 const at::Tensor& input,
                                                                 const at::Tensor& weights,
                                                                 const ConvGeometry& geometry,
                                                                 std::array<bool, 3> wanted) {
    return at::convolution_backward(error, input, weights, c10::nullopt, geometry.stride,
                                    geometry.padding, geometry.dilation, /*transposed=*/false,
                                    /*output_padding=*/{0, 0}, geometry.groups, wanted);
  }
};

struct LinearFunction : Function<LinearFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const LayerCall& call) {
    const at::Tensor input = quantized_input(x, call), weights = quantized_weight(weight, call);
    context->save_for_backward({input, weights});
    save_error_call(context, call);
    return product(input, weights.t());
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &input = saved[0], &weights = saved[1];
    const at::Tensor error = quantized_output_error(context, errors[0]);
    const at::Tensor rows = error.reshape({-1, error.size(-1)});
    const at::Tensor inputs = input.reshape({-1, input.size(-1)});
    at::Tensor input_gradient, weight_gradient;
    if (context->needs_input_grad(0)) input_gradient = product(error, weights);
    if (context->needs_input_grad(1)) {
      weight_gradient = sum_over_shards(rows.size(0), [&](std::int64_t first, std::int64_t count) {
        return at::mm(rows.narrow(0, first, count).t(), inputs.narrow(0, first, count));
      });
    }
    return {input_gradient, weight_gradient, {}};
  }

  // x [..., n] times y [n, m].
  static at::Tensor product(const at::Tensor& x, const at::Tensor& y) {
    std::vector<std::int64_t> sizes = x.sizes().vec();
    sizes.back() = y.size(1);
    return steady_product(x.reshape({-1, x.size(-1)}), y).view(sizes);
  }
};

}  // namespace

at::Tensor quantized_conv2d(const at::Tensor& x, const at::Tensor& weight,
                            const ConvGeometry& geometry, const LayerCall& call) {
  return ConvFunction::apply(x, weight, geometry, call);
}

at::Tensor quantized_linear(const at::Tensor& x, const at::Tensor& weight, const LayerCall& call) {
  return LinearFunction::apply(x, weight, call);
}

}  // namespace bitcycle
