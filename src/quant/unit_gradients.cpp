// The backward pass of a unit in the integer scheme.

#include "bitcycle/kernels/integer/stored_codes.h"

#include "quant/conv_products.h"
#include "quant/dense.h"
#include "quant/real_view.h"
#include "quant/unit_state.h"

namespace bitcycle {
namespace {

// Gradients are scaled only where they travel in half precision.
float scale_of_gradients(const at::Tensor& x) {
  return x.scalar_type() == at::kHalf ? gradient_scale(x.size(0)) : 1.0f;
}

at::Tensor float_tensor(const std::vector<float>& from, float divisor) {
  at::Tensor to = at::empty({static_cast<std::int64_t>(from.size())});
  auto out = values(to);
  for (std::size_t i = 0; i < from.size(); ++i) out[i] = from[i] / divisor;
  return to;
}

integer::GradientSource gated_by_activation(const UnitState& state, const UnitTensors& saved) {
  integer::GradientSource source{.y = view_of(saved.y)};
  if (state.call.activation != Activation::relu) return source;
  if (saved.mask.defined()) {
    source.mask = saved.mask.data_ptr<std::uint8_t>();
  } else {
    source.scale = state.norm.scale;
    source.shift = state.norm.shift;
  }
  return source;
}

// The errors of the convolution as codes, weight scales folded in.
struct ErrorCodes {
  at::Tensor buffer;
  integer::CodeParams params;
  integer::Codes view() const { return {buffer.data_ptr<std::uint8_t>(), params}; }
};

ErrorCodes quantized(const IntegerUnitCall& call, const integer::ErrorSource& errors,
                     integer::Range range) {
  const integer::CodeGrid grid = call.shape.error_grid();
  ErrorCodes codes{code_buffer(grid), code_params(range, call.bits.error)};
  quantize_errors(grid, errors, codes.params, call.noise, codes.buffer.data_ptr<std::uint8_t>());
  return codes;
}

// The input's codes: from where they are kept, or made again from what they were made of.
at::Tensor input_codes(const UnitState& state, const at::Tensor& source) {
  const integer::CodeGrid grid = state.call.shape.input_grid();
  at::Tensor codes = code_buffer(grid);
  auto* to = codes.data_ptr<std::uint8_t>();
  if (state.pending == nullptr) {
    load_codes(grid, source.data_ptr<std::uint8_t>(), state.input, to);
  } else {
    quantize(grid, activation_source(source, state.pending.get()), state.input, to);
  }
  return codes;
}

at::Tensor weight_gradient(const UnitState& state, const UnitTensors& saved,
                           const integer::Codes& errors) {
  at::Tensor gradient = at::empty(saved.weight.sizes(), at::MemoryFormat::ChannelsLast);
  const at::Tensor codes = input_codes(state, saved.source);
  conv_products(state.call.executor)
      .backward_weights(state.call.shape, {codes.data_ptr<std::uint8_t>(), state.input}, errors,
                        *state.call.weights, values(gradient));
  return gradient;
}

at::Tensor input_gradient(const UnitState& state, const at::Tensor& like,
                          const integer::Codes& errors) {
  const integer::ConvShape& shape = state.call.shape;
  const at::Tensor gradient = at::empty({shape.batch, shape.in_channels, shape.height, shape.width},
                                        like.options(), at::MemoryFormat::ChannelsLast);
  conv_products(state.call.executor)
      .backward_data(shape, errors, *state.call.weights, mutable_view_of(gradient));
  return gradient;
}

}  // namespace

UnitGradients unit_gradients(const UnitState& state, const UnitTensors& saved,
                             const at::Tensor& error, const at::Tensor& other, UnitWants wants) {
  integer::ConvWeights& weights = *state.call.weights;
  // Another pass of the layer, at other bits, may have come in between.
  if (weights.bits() != state.call.bits.weight) {
    weights.quantize(values(dense(saved.weight)), state.call.bits.weight);
  }
  const integer::CodeGrid grid = state.call.shape.error_grid();
  const float scale = scale_of_gradients(saved.y);
  UnitGradients gradients;
  const at::Tensor gradient = dense(error);
  const at::Tensor added = other.defined() ? dense(other) : at::Tensor();
  integer::GradientSource source = gated_by_activation(state, saved);
  source.gradient = view_of(gradient);
  source.residual = view_of(added);
  // Gated and added up once, where it is needed as a tensor or would be added up again.
  if (wants.residual || added.defined()) gradients.residual = at::empty_like(gradient);
  const auto sums =
      gradient_sums(grid, source, state.norm.mean, mutable_view_of(gradients.residual));
  if (gradients.residual.defined()) {
    source = {.gradient = view_of(gradients.residual), .y = view_of(saved.y)};
  }
  const auto norm =
      batch_norm_backward(state.norm, sums, grid.elements() / grid.channels, weights.scales());
  const UnitNorm& parameters = state.call.norm;
  if (parameters.norm != nullptr) gradients.gamma = float_tensor(norm.gamma, scale);
  if (parameters.norm != nullptr || parameters.bias.defined()) {
    gradients.beta = float_tensor(norm.beta, scale);
  }
  const integer::ErrorSource errors{source, norm.a, norm.b, norm.c};
  const ErrorCodes codes = quantized(state.call, errors, error_bounds(sums, state.stats, errors));
  integer::Codes unscaled = codes.view();
  unscaled.params.scale /= scale;
  gradients.weight = weight_gradient(state, saved, unscaled);
  if (wants.x) gradients.x = input_gradient(state, saved.y, codes.view());
  if (!wants.residual) gradients.residual.reset();
  return gradients;
}

}  // namespace bitcycle
