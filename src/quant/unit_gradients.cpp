// The backward pass of a unit in the integer scheme.

#include "bitcycle/kernels/integer/code_makers.h"
#include "bitcycle/kernels/integer/stored_codes.h"

#include "quant/conv_products.h"
#include "quant/dense.h"
#include "quant/real_view.h"
#include "quant/unit_state.h"

namespace bitcycle {
namespace {

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

// How the input's codes are made: from where they are kept, or again from what they were made of.
std::unique_ptr<integer::CodeMaker> input_maker(const UnitState& state, const at::Tensor& source) {
  const integer::CodeGrid grid = state.call.shape.input_grid();
  if (state.pending == nullptr) {
    return std::make_unique<integer::StoredCodes>(grid, state.input,
                                                  source.data_ptr<std::uint8_t>());
  }
  return std::make_unique<integer::ActivationCodes>(
      grid, activation_source(source, state.pending.get()), state.input);
}

at::Tensor empty_input_gradient(const integer::ConvShape& shape, const at::Tensor& like) {
  return at::empty({shape.batch, shape.in_channels, shape.height, shape.width}, like.options(),
                   at::MemoryFormat::ChannelsLast);
}

// The sums that the unit before will ask for; see Note [Sums on the way back].
std::optional<integer::GradientPass> sums_on_the_way(const UnitState& state,
                                                     const UnitTensors& saved,
                                                     const at::Tensor& gradient) {
  if (state.pending == nullptr || !gradient.defined()) return {};
  integer::GradientSource source{.gradient = view_of(gradient), .y = view_of(saved.source)};
  if (state.pending->activation == Activation::relu) {
    source.scale = state.pending->scale;
    source.shift = state.pending->shift;
  }
  return std::make_optional<integer::GradientPass>(grid_of(gradient), source, state.pending->mean);
}

// Fills in the gradients of weight and input from the errors of the convolution.
void products(const UnitState& state, const UnitTensors& saved, const integer::ErrorSource& errors,
              const integer::CodeParams& params, UnitWants wants, UnitGradients& gradients) {
  const IntegerUnitCall& call = state.call;
  const integer::ErrorCodes error_codes(call.shape.error_grid(), errors, params, call.noise);
  const auto input_codes = input_maker(state, saved.source);
  gradients.weight = at::empty(saved.weight.sizes(), at::MemoryFormat::ChannelsLast);
  if (wants.x) gradients.x = empty_input_gradient(call.shape, saved.y);
  auto pass = sums_on_the_way(state, saved, gradients.x);
  integer::ConvBackward backward{.shape = call.shape,
                                 .input = {nullptr, state.input, input_codes.get()},
                                 .errors = {nullptr, params, &error_codes},
                                 .weights = *call.weights,
                                 .input_gradient = mutable_view_of(gradients.x),
                                 .weight_gradient = values(gradients.weight),
                                 .error_divisor = state.gradient_scale};
  if (pass) backward.after_image = [&](int image) { pass->run(image); };
  conv_products(call.executor).backward(backward);
  if (pass) *state.pending->returned = {gradients.x, pass->sums()};
}

// The sums over a gradient, unless they came with it.
integer::GradientSums sums_of(const at::Tensor& gradient, const integer::GradientSource& source,
                              const UnitState& state, const at::Tensor& gated) {
  if (state.returned != nullptr) {
    const ReturnedGradient returned = std::exchange(*state.returned, {});
    if (returned.gradient.is_same(gradient)) return returned.sums;
  }
  return gradient_sums(state.call.shape.error_grid(), source, state.norm.mean,
                       mutable_view_of(gated));
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
  UnitGradients gradients;
  const at::Tensor gradient = dense(error);
  const at::Tensor added = other.defined() ? dense(other) : at::Tensor();
  integer::GradientSource source = gated_by_activation(state, saved);
  source.gradient = view_of(gradient);
  source.residual = view_of(added);
  // Gated and added up once, where it is needed as a tensor or would be added up again.
  if (wants.residual || added.defined()) gradients.residual = at::empty_like(gradient);
  const integer::GradientSums sums = sums_of(gradient, source, state, gradients.residual);
  if (gradients.residual.defined()) {
    source = {.gradient = view_of(gradients.residual), .y = view_of(saved.y)};
  }
  const auto norm =
      batch_norm_backward(state.norm, sums, grid.elements() / grid.channels, weights.scales());
  const UnitNorm& parameters = state.call.norm;
  if (parameters.norm != nullptr) gradients.gamma = float_tensor(norm.gamma, state.gradient_scale);
  if (parameters.norm != nullptr || parameters.bias.defined()) {
    gradients.beta = float_tensor(norm.beta, state.gradient_scale);
  }
  const integer::ErrorSource errors{source, norm.a, norm.b, norm.c};
  products(state, saved, errors,
           integer::code_params(error_bounds(sums, state.stats, errors), state.call.bits.error),
           wants, gradients);
  if (!wants.residual) gradients.residual.reset();
  return gradients;
}

}  // namespace bitcycle
