// The backward pass of a unit in the integer scheme.

#include "bitcycle/kernels/integer/code_makers.h"
#include "bitcycle/kernels/integer/option_products.h"
#include "bitcycle/kernels/integer/stored_codes.h"

#include "quant/conv_products.h"
#include "quant/dense.h"
#include "quant/made_again.h"
#include "quant/observe_unit.h"
#include "quant/real_view.h"
#include "quant/unit_state.h"

#include <algorithm>

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
  if (state.pending == nullptr && state.kept == Kept::as_codes) {
    return std::make_unique<integer::StoredCodes>(grid, state.input,
                                                  source.data_ptr<std::uint8_t>());
  }
  integer::ActivationSource values = activation_source(source, state.pending.get());
  values.y = view_of(source, state.rows ? &state.rows->rows : nullptr);
  return std::make_unique<integer::ActivationCodes>(grid, values, state.input);
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

// What every option would have made of the input; see SampleChoice::mask.
std::optional<integer::OptionProducts> worth_of_options(const UnitState& state,
                                                        const at::Tensor& gradient) {
  const SampleChoice* choice = state.call.choice.get();
  if (choice == nullptr || !choice->mask.defined() || !gradient.defined()) return {};
  std::vector<integer::CodeParams> options;
  for (const LayerBits& bits : choice->options) {
    options.push_back(integer::code_params(state.call.input_range, bits.activation));
  }
  return std::make_optional<integer::OptionProducts>(state.call.shape.input_grid(),
                                                     view_of(gradient), state.input, options);
}

at::Tensor option_gradient(const integer::OptionProducts& products, const UnitState& state) {
  const auto options = static_cast<std::int64_t>(state.call.choice->options.size());
  const at::Tensor gradient = at::empty({state.call.shape.batch, options});
  std::ranges::transform(products.products(), gradient.data_ptr<float>(),
                         [&](float product) { return product / state.gradient_scale; });
  return gradient;
}

// The codes of each kind, or of all images where nothing was chosen, and their makers.
class KindCodes {
 public:
  KindCodes(const UnitState& state, const integer::CodeMaker& finest,
            const integer::ErrorSource& errors, Range range)
      : state_(state), errors_(errors), range_(range) {
    for (const SampleKind& kind : state.kinds) {
      inputs_.push_back(std::make_unique<integer::NestedCodes>(state.call.shape.input_grid(),
                                                               finest, state.input, kind.input));
      add(kind.samples, {nullptr, kind.input, inputs_.back().get()}, kind.error_bits);
    }
    if (state.call.choice == nullptr) {
      add({}, {nullptr, state.input, &finest}, state.call.bits.error);
    }
  }
  const std::vector<integer::BackwardCodes>& codes() const { return codes_; }

 private:
  void add(std::span<const int> samples, const integer::Codes& input, int error_bits) {
    const integer::CodeParams params = integer::code_params(range_, error_bits);
    makers_.push_back(std::make_unique<integer::ErrorCodes>(state_.call.shape.error_grid(), errors_,
                                                            params, state_.call.noise));
    codes_.push_back({input, {nullptr, params, makers_.back().get()}, samples});
  }

  const UnitState& state_;
  const integer::ErrorSource& errors_;
  Range range_;
  std::vector<std::unique_ptr<const integer::NestedCodes>> inputs_;
  std::vector<std::unique_ptr<const integer::ErrorCodes>> makers_;
  std::vector<integer::BackwardCodes> codes_;
};

// Fills in the gradients of weight and input from the errors of the convolution.
void products(const UnitState& state, const UnitTensors& saved, const integer::ErrorSource& errors,
              Range range, UnitWants wants, UnitGradients& gradients) {
  const IntegerUnitCall& call = state.call;
  const auto input_codes = input_maker(state, saved.source);
  gradients.weight = at::empty(saved.weight.sizes(), at::MemoryFormat::ChannelsLast);
  if (wants.x) gradients.x = empty_input_gradient(call.shape, saved.y);
  auto pass = sums_on_the_way(state, saved, gradients.x);
  auto worth = worth_of_options(state, gradients.x);
  std::optional<integer::WeighingCodes> weighing;
  if (worth) weighing.emplace(*input_codes, *worth);
  const KindCodes kinds(state, weighing ? *weighing : *input_codes, errors, range);
  integer::ConvBackward backward{.shape = call.shape,
                                 .kinds = kinds.codes(),
                                 .weights = *call.weights,
                                 .input_gradient = mutable_view_of(gradients.x),
                                 .weight_gradient = values(gradients.weight),
                                 .error_divisor = state.gradient_scale};
  if (pass) backward.after_image = [&](int image) { pass->run(image); };
  conv_products(call.executor).backward(backward);
  if (pass) *state.pending->returned = {gradients.x, pass->sums()};
  if (worth) gradients.mask = option_gradient(*worth, state);
}

// What the gradient of a mean adds to that of each pixel, in the scale of gradients.
std::vector<float> per_channel(const UnitState& state, const at::Tensor& means) {
  if (!means.defined()) return {};
  const integer::CodeGrid grid = state.call.shape.error_grid();
  const float share = state.gradient_scale / static_cast<float>(grid.height * grid.width);
  const at::Tensor plain = means.contiguous();
  std::vector<float> result(static_cast<std::size_t>(plain.numel()));
  std::ranges::transform(values(plain), result.begin(), [&](float g) { return g * share; });
  return result;
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
                             const UnitErrors& arrived, UnitWants wants) {
  if (state.again != nullptr) state.again->have();
  integer::ConvWeights& weights = *state.call.weights;
  // Another pass of the layer, at other bits, may have come in between.
  if (weights.bits() != state.call.bits.weight) {
    weights.quantize(values(dense(saved.weight)), state.call.bits.weight);
  }
  const integer::CodeGrid grid = state.call.shape.error_grid();
  UnitGradients gradients;
  const at::Tensor gradient = dense(arrived.output);
  const at::Tensor added = arrived.second.defined() ? dense(arrived.second) : at::Tensor();
  const std::vector<float> of_means = per_channel(state, arrived.means);
  integer::GradientSource source = gated_by_activation(state, saved);
  source.gradient = view_of(gradient, state.joined_rows ? &state.joined_rows->rows : nullptr);
  source.residual = view_of(added);
  source.per_channel = of_means;
  // Gated and added up once, where it is needed as a tensor or would be added up again.
  if (wants.residual || added.defined()) gradients.residual = at::empty_like(saved.y);
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
  const Range range = error_bounds(sums, state.stats, errors);
  products(state, saved, errors, range, wants, gradients);
  observe_backward(state, saved, errors, sums, range);
  if (!wants.residual) gradients.residual.reset();
  return gradients;
}

}  // namespace bitcycle
