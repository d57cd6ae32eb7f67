#include "bitcycle/quant/layer_function.h"

#include "bitcycle/quant/straight_through.h"

#include "quant/scheme_call.h"
#include "quant/steady_product.h"
#include "quant/weight_gradient.h"

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// A call, kept for its backward pass.
struct KeptCall : torch::CustomClassHolder {
  explicit KeptCall(LayerCall kept) : call(std::move(kept)) {}
  LayerCall call;
};

// Whether somebody wants to know what other options would have been worth.
bool has_mask(const LayerCall& call) {
  return call.choice != nullptr && call.choice->mask.defined();
}

// Input and weight as quantized, and as they were where the scheme's gradients ask for that.
void keep(AutogradContext* context, const variable_list& quantized, const at::Tensor& x,
          const at::Tensor& weight, const LayerCall& call) {
  context->save_for_backward({quantized[0], quantized[1],
                              asks_for_input(call) || has_mask(call) ? x : at::Tensor(),
                              asks_for_weight(call) ? weight : at::Tensor()});
  context->saved_data["call"] = c10::IValue::make_capsule(c10::make_intrusive<KeptCall>(call));
}

const LayerCall& kept_call(const c10::intrusive_ptr<torch::CustomClassHolder>& capsule) {
  return static_cast<const KeptCall&>(*capsule).call;
}

// Within a parallel region oneDNN may never come back from the weight gradient of a 1x1
// convolution, though it is told to use one thread alone (seen with LibTorch 1.13 and 2.6).
Shards shards_of(const at::Tensor& weights) {
  const bool pointwise = weights.size(2) == 1 && weights.size(3) == 1;
  return pointwise ? Shards::in_turn : Shards::side_by_side;
}

struct ConvFunction : Function<ConvFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const c10::optional<at::Tensor>&, const ConvGeometry& geometry,
                            const LayerCall& call) {
    const at::Tensor input = quantized_input(x, call), weights = quantized_weight(weight, call);
    keep(context, {input, weights}, x, weight, call);
    context->saved_data["stride"] = geometry.stride;
    context->saved_data["padding"] = geometry.padding;
    context->saved_data["dilation"] = geometry.dilation;
    context->saved_data["groups"] = geometry.groups;
    return at::conv2d(input, weights, {}, geometry.stride, geometry.padding, geometry.dilation,
                      geometry.groups);
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    const auto saved = context->get_saved_variables();
    const auto capsule = context->saved_data["call"].toCapsule();
    const LayerCall& call = kept_call(capsule);
    const at::Tensor &input = saved[0], &weights = saved[1];
    const ConvGeometry geometry{
        context->saved_data["stride"].toIntVector(), context->saved_data["padding"].toIntVector(),
        context->saved_data["dilation"].toIntVector(), context->saved_data["groups"].toInt()};
    const auto [for_input, for_weight] = quantized_errors(errors[0], call);
    at::Tensor input_gradient, weight_gradient, choice_gradient;
    if (context->needs_input_grad(0)) {
      const at::Tensor gradient =
          std::get<0>(products(for_input, input, weights, geometry, {true, false, false}));
      input_gradient = through_input(gradient, saved[2], call);
      if (has_mask(call)) choice_gradient = mask_gradient(gradient, saved[2], call);
    }
    if (context->needs_input_grad(1)) {
      const auto gradient = [&, &error = for_weight](std::int64_t first, std::int64_t count) {
        return std::get<1>(products(error.narrow(0, first, count), input.narrow(0, first, count),
                                    weights, geometry, {false, true, false}));
      };
      weight_gradient = sum_over_shards(input.size(0), gradient, shards_of(weights));
      weight_gradient = through_weight(weight_gradient, saved[3], call);
    }
    return {input_gradient, weight_gradient, choice_gradient, {}, {}};
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
    keep(context, {input, weights}, x, weight, call);
    return product(input, weights.t());
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    const auto saved = context->get_saved_variables();
    const auto capsule = context->saved_data["call"].toCapsule();
    const LayerCall& call = kept_call(capsule);
    const at::Tensor &input = saved[0], &weights = saved[1];
    const CallErrors quantized = quantized_errors(errors[0], call);
    const at::Tensor rows = quantized.for_weight.reshape({-1, weights.size(0)});
    const at::Tensor inputs = input.reshape({-1, input.size(-1)});
    at::Tensor input_gradient, weight_gradient;
    if (context->needs_input_grad(0)) {
      input_gradient = through_input(product(quantized.for_input, weights), saved[2], call);
    }
    if (context->needs_input_grad(1)) {
      weight_gradient = sum_over_shards(rows.size(0), [&](std::int64_t first, std::int64_t count) {
        return at::mm(rows.narrow(0, first, count).t(), inputs.narrow(0, first, count));
      });
      weight_gradient = through_weight(weight_gradient, saved[3], call);
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
  return ConvFunction::apply(x, weight,
                             has_mask(call) ? c10::make_optional(call.choice->mask) : c10::nullopt,
                             geometry, call);
}

at::Tensor quantized_linear(const at::Tensor& x, const at::Tensor& weight, const LayerCall& call) {
  return LinearFunction::apply(x, weight, call);
}

at::Tensor quantized_bias(const at::Tensor& bias, const LayerCall& call) {
  const bool in_float = call.bits.weight == 0 || call.bits.activation == 0;
  if (in_float || !call.scheme->bias) return bias;
  return straight_through(bias, call.scheme->bias(bias.detach(), call.bits));
}

}  // namespace bitcycle
