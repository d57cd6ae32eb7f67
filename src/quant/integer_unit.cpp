#include "bitcycle/quant/integer_unit.h"

#include "quant/dense.h"
#include "quant/norm_tracking.h"
#include "quant/real_view.h"

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// Everything the backward pass needs.
struct UnitState : torch::CustomClassHolder {
  IntegerUnitCall call;
  integer::CodeParams input;
  integer::BatchNorm norm;
  at::Tensor codes;  // of the input, with halo
  at::Tensor y;      // the convolution's output
  at::Tensor mask;   // bits of output > 0; only where a residual made them differ from y's sign
  bool residual = false;
};

at::Tensor code_buffer(const integer::CodeGrid& grid) {
  return at::empty({static_cast<std::int64_t>(grid.bytes())}, at::kByte);
}

integer::Rectify rectify(Activation activation) {
  return activation == Activation::relu ? integer::Rectify::relu : integer::Rectify::none;
}

// Gradients are scaled only where they travel in half precision.
float scale_of_gradients(const at::Tensor& x) {
  return x.scalar_type() == at::kHalf ? gradient_scale(x.size(0)) : 1.0f;
}

at::Tensor output_like(const integer::ConvShape& shape, const at::Tensor& x) {
  return at::empty({shape.batch, shape.out_channels, shape.out_height(), shape.out_width()},
                   x.options(), at::MemoryFormat::ChannelsLast);
}

// Batch norm's scale and shift from the running statistics.
integer::BatchNorm running_norm(const torch::nn::BatchNorm2dImpl& norm) {
  const at::Tensor scale = norm.weight * (norm.running_var + norm.options.eps()).rsqrt();
  const at::Tensor shift = norm.bias - norm.running_mean * scale;
  const auto a = values(scale), b = values(shift);
  return {{}, {}, {a.begin(), a.end()}, {b.begin(), b.end()}};
}

// In training from the batch, moving the running statistics; else from these.
integer::BatchNorm unit_norm(const IntegerUnitCall& call, const integer::ChannelStats& stats) {
  torch::nn::BatchNorm2dImpl& norm = *call.norm;
  if (!norm.is_training()) return running_norm(norm);
  const std::int64_t count =
      std::int64_t{call.shape.batch} * call.shape.out_height() * call.shape.out_width();
  integer::BatchNorm result =
      batch_norm_forward(stats, count, values(norm.weight), values(norm.bias), norm.options.eps());
  std::vector<float> variance(result.mean.size());
  for (std::size_t c = 0; c < variance.size(); ++c) {
    const double mean = stats.sum[c] / static_cast<double>(count);
    variance[c] = static_cast<float>(
        std::max(0.0, stats.sum_of_squares[c] / static_cast<double>(count) - mean * mean));
  }
  track_statistics(norm, result.mean, variance, count);
  return result;
}

// Runs the unit, leaving in `state` what backward needs.
at::Tensor run_unit(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight,
                    UnitState& state) {
  const IntegerUnitCall& call = state.call;
  const integer::CodeGrid grid = call.shape.input_grid();
  state.input = code_params(call.input_range, call.bits.activation);
  state.codes = code_buffer(grid);
  quantize(grid, {.y = view_of(x)}, state.input, state.codes.data_ptr<std::uint8_t>());
  call.weights->quantize(values(weight.contiguous()), call.bits.weight);
  state.y = output_like(call.shape, x);
  integer::ChannelStats stats;
  conv_forward(call.shape, {state.codes.data_ptr<std::uint8_t>(), state.input}, *call.weights, {},
               mutable_view_of(state.y), &stats);
  state.norm = unit_norm(call, stats);
  const integer::CodeGrid out_grid = grid_of(state.y);
  state.residual = residual.defined();
  const bool masked = state.residual && call.activation == Activation::relu;
  if (masked) {
    state.mask = at::empty({static_cast<std::int64_t>(mask_bytes(out_grid))}, at::kByte);
  }
  const at::Tensor output = at::empty_like(state.y);
  const integer::Range range =
      activate(out_grid,
               {.y = view_of(state.y),
                .residual = view_of(residual),
                .scale = state.norm.scale,
                .shift = state.norm.shift,
                .activation = rectify(call.activation)},
               mutable_view_of(output), masked ? state.mask.data_ptr<std::uint8_t>() : nullptr);
  if (call.output_range != nullptr) *call.output_range = range;
  return output;
}

integer::GradientSource gradient_source(const UnitState& state, const at::Tensor& error) {
  integer::GradientSource source{.gradient = view_of(error), .y = view_of(state.y)};
  if (state.call.activation != Activation::relu) return source;
  if (state.mask.defined()) {
    source.mask = state.mask.data_ptr<std::uint8_t>();
  } else {
    source.scale = state.norm.scale;
    source.shift = state.norm.shift;
  }
  return source;
}

at::Tensor float_tensor(const std::vector<float>& from, float divisor) {
  at::Tensor to = at::empty({static_cast<std::int64_t>(from.size())});
  auto out = values(to);
  for (std::size_t i = 0; i < from.size(); ++i) out[i] = from[i] / divisor;
  return to;
}

struct UnitGradients {
  at::Tensor x, residual, weight, gamma, beta;
};

UnitGradients unit_gradients(const UnitState& state, const at::Tensor& error,
                             const at::Tensor& weight, bool input_wanted) {
  const integer::ConvShape& shape = state.call.shape;
  const integer::CodeGrid grid = shape.error_grid();
  const float scale = scale_of_gradients(state.y);
  UnitGradients gradients;
  if (state.residual) gradients.residual = at::empty_like(error);
  const auto source = gradient_source(state, error);
  const auto sums =
      gradient_sums(grid, source, state.norm.mean, mutable_view_of(gradients.residual));
  const auto norm = batch_norm_backward(state.norm, sums, grid.elements() / grid.channels,
                                        state.call.weights->scales());
  gradients.gamma = float_tensor(norm.gamma, scale);
  gradients.beta = float_tensor(norm.beta, scale);

  const integer::ErrorSource errors{source, norm.a, norm.b, norm.c};
  const integer::CodeParams params = code_params(error_range(grid, errors), state.call.bits.error);
  const at::Tensor codes = code_buffer(grid);
  quantize_errors(grid, errors, params, state.call.noise, codes.data_ptr<std::uint8_t>());
  const integer::Codes view{codes.data_ptr<std::uint8_t>(), params};
  if (input_wanted) {
    gradients.x = at::empty({shape.batch, shape.in_channels, shape.height, shape.width},
                            state.y.options(), at::MemoryFormat::ChannelsLast);
    conv_backward_data(shape, view, *state.call.weights, mutable_view_of(gradients.x));
  }
  integer::Codes unscaled = view;
  unscaled.params.scale /= scale;
  gradients.weight = at::empty(weight.sizes());
  conv_backward_weights(shape, {state.codes.data_ptr<std::uint8_t>(), state.input}, unscaled,
                        *state.call.weights, values(gradients.weight));
  gradients.weight = dense(gradients.weight);
  return gradients;
}

struct UnitFunction : Function<UnitFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const c10::optional<at::Tensor>& residual, const at::Tensor& weight,
                            const at::Tensor&, const at::Tensor&, const IntegerUnitCall& call) {
    auto state = c10::make_intrusive<UnitState>();
    state->call = call;
    const at::Tensor output =
        run_unit(dense(x), residual ? dense(*residual) : at::Tensor(), weight, *state);
    context->save_for_backward({weight});
    context->saved_data["state"] = c10::IValue::make_capsule(std::move(state));
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    const auto capsule = context->saved_data["state"].toCapsule();
    const auto& state = static_cast<const UnitState&>(*capsule);
    const auto gradients = unit_gradients(
        state, dense(errors[0]), context->get_saved_variables()[0], context->needs_input_grad(0));
    return {gradients.x, gradients.residual, gradients.weight, gradients.gamma, gradients.beta, {}};
  }
};

}  // namespace

bool executable(LayerBits bits) {
  const auto fits = [](int width) {
    return width >= integer::kMinBits && width <= integer::kMaxBits;
  };
  return fits(bits.weight) && fits(bits.activation) && fits(bits.error);
}

at::Tensor integer_unit(const at::Tensor& x, const c10::optional<at::Tensor>& residual,
                        const at::Tensor& weight, const IntegerUnitCall& call) {
  return UnitFunction::apply(x, residual, weight, call.norm->weight, call.norm->bias, call);
}

integer::Range real_range(const at::Tensor& x) {
  const at::Tensor input = dense(x);
  return activate(grid_of(input), {.y = view_of(input)}, {}, nullptr);
}

}  // namespace bitcycle
