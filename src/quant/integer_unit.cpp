#include "bitcycle/quant/integer_unit.h"

#include "bitcycle/kernels/finite.h"
#include "bitcycle/kernels/integer/code_makers.h"
#include "bitcycle/kernels/integer/pool.h"
#include "bitcycle/kernels/integer/stored_codes.h"

#include "quant/conv_products.h"
#include "quant/dense.h"
#include "quant/first_derivative.h"
#include "quant/made_again.h"
#include "quant/norm_tracking.h"
#include "quant/observe_unit.h"
#include "quant/real_view.h"
#include "quant/sample_rows.h"
#include "quant/unit_state.h"

#include <algorithm>

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

std::vector<float> list(const at::Tensor& x) {
  const auto floats = values(x);
  return {floats.begin(), floats.end()};
}

at::Tensor output_like(const integer::ConvShape& shape, const at::Tensor& x) {
  return at::empty({shape.batch, shape.out_channels, shape.out_height(), shape.out_width()},
                   x.options(), at::MemoryFormat::ChannelsLast);
}

// A bias is a batch norm of mean 0 and deviation 1.
integer::BatchNorm bias_norm(const at::Tensor& bias, int channels) {
  const auto size = static_cast<std::size_t>(channels);
  const std::vector<float> zeros(size, 0.0f), ones(size, 1.0f);
  return {integer::Statistics::running,       zeros, ones, ones, ones,
          bias.defined() ? list(bias) : zeros};
}

integer::BatchNorm running_norm(const torch::nn::BatchNorm2dImpl& norm) {
  const at::Tensor inverse = (norm.running_var + norm.options.eps()).rsqrt();
  const at::Tensor scale = norm.weight * inverse;
  return {integer::Statistics::running,
          list(norm.running_mean),
          list(norm.running_var),
          list(inverse),
          list(scale),
          list(norm.bias - norm.running_mean * scale)};
}

// In training from the batch, moving the running statistics; else from these.
integer::BatchNorm unit_norm(const UnitState& state) {
  const IntegerUnitCall& call = state.call;
  if (call.norm.norm == nullptr) return bias_norm(call.norm.bias, call.shape.out_channels);
  torch::nn::BatchNorm2dImpl& norm = *call.norm.norm;
  if (!norm.is_training()) return running_norm(norm);
  const std::int64_t count =
      std::int64_t{call.shape.batch} * call.shape.out_height() * call.shape.out_width();
  integer::BatchNorm result = batch_norm_forward(state.stats, count, values(norm.weight),
                                                 values(norm.bias), norm.options.eps());
  track_statistics(norm, result.mean, result.variance, count);
  return result;
}

// Whether the input's codes are made again in the backward pass.
bool made_again(const UnitState& state) {
  return state.pending != nullptr || state.kept == Kept::as_values;
}

// Memory for the codes of an input that is quantized; empty where they can be made again, or where
// another reader of the same tensor stored them.
at::Tensor room_for_codes(const integer::CodeGrid& grid, const UnitState& state) {
  const StoredInput* shared = state.stored.get();
  const bool at_hand =
      shared != nullptr && shared->codes.defined() && shared->params == state.input;
  if (made_again(state) || at_hand) return {};
  const std::size_t bytes = stored_bytes(grid, state.input.bits);
  return at::empty({static_cast<std::int64_t>(bytes)}, at::kByte);
}

// What the input's codes can be had from in the backward pass.
at::Tensor kept_source(const at::Tensor& x, const at::Tensor& stored, UnitState& state) {
  if (made_again(state)) return x;
  if (!stored.defined()) return state.stored->codes;
  if (state.stored != nullptr) {
    state.stored->params = state.input;
    state.stored->codes = stored;
  }
  return stored;
}

// Note [Poison]: an output that is not finite somewhere is NaN everywhere.
void poison(at::Tensor& y, integer::ChannelStats& stats) {
  y.fill_(kNaN);
  for (auto* ends : {&stats.low, &stats.high}) std::ranges::fill(*ends, kNaN);
  for (auto* sums : {&stats.sum, &stats.sum_of_squares}) std::ranges::fill(*sums, kNaN);
}

std::vector<SampleKind> kinds_of(const IntegerUnitCall& call) {
  std::vector<SampleKind> kinds;
  const std::size_t options = call.choice == nullptr ? 0 : call.choice->options.size();
  for (std::size_t i = 0; i < options; ++i) {
    const LayerBits bits = call.choice->options[i];
    std::vector<int> samples = call.choice->samples_of(i);
    if (samples.empty()) continue;
    kinds.push_back(
        {std::move(samples), integer::code_params(call.input_range, bits.activation), bits.error});
  }
  return kinds;
}

// The product, each sample at the bits of its kind.
void convolve_kinds(const UnitState& state, const integer::CodeMaker& finest, const at::Tensor& y,
                    integer::ChannelStats& stats) {
  const IntegerUnitCall& call = state.call;
  std::vector<integer::NestedCodes> makers;
  makers.reserve(state.kinds.size());
  std::vector<integer::ImageCodes> kinds;
  for (const SampleKind& kind : state.kinds) {
    makers.emplace_back(call.shape.input_grid(), finest, state.input, kind.input);
    kinds.push_back({kind.samples, {nullptr, kind.input, &makers.back()}});
  }
  conv_products(call.executor).forward(call.shape, kinds, *call.weights, mutable_view_of(y), stats);
}

const std::vector<int>* rows_of(const std::shared_ptr<const SampleRows>& rows) {
  return rows == nullptr ? nullptr : &rows->rows;
}

// Quantizes the input and convolves it, image by image.
void convolve(const at::Tensor& x, UnitState& state, UnitTensors& saved) {
  const IntegerUnitCall& call = state.call;
  const integer::CodeGrid grid = call.shape.input_grid();
  state.kinds = kinds_of(call);
  state.input = integer::code_params(
      call.input_range, call.choice == nullptr ? call.bits.activation : integer::kMaxBits);
  call.weights->quantize(values(dense(saved.weight)), call.bits.weight);
  integer::ActivationSource source = activation_source(x, state.pending.get());
  source.y = view_of(x, rows_of(state.rows));
  const integer::ActivationCodes codes(grid, source, state.input);
  const at::Tensor stored = room_for_codes(grid, state);
  const integer::StoringCodes storing(grid, state.input, codes,
                                      stored.defined() ? stored.data_ptr<std::uint8_t>() : nullptr);
  const integer::CodeMaker* maker = &codes;
  if (stored.defined()) maker = &storing;
  saved.y = output_like(call.shape, x);
  if (call.choice != nullptr) {
    convolve_kinds(state, *maker, saved.y, state.stats);
  } else {
    const integer::ImageCodes all{{}, {nullptr, state.input, maker}};
    conv_products(call.executor)
        .forward(call.shape, {&all, 1}, *call.weights, mutable_view_of(saved.y), state.stats);
  }
  observe_forward(state, saved.weight, source, codes);
  saved.source = kept_source(x, stored, state);
  if (!finite(state.stats, mutable_view_of(saved.y).type)) poison(saved.y, state.stats);
}

// How samples in place are made of y and a residual once more.
std::shared_ptr<MadeAgain> made_again_from(const at::Tensor& y, const at::Tensor& residual,
                                           const at::Tensor& x, const UnitState& state,
                                           std::shared_ptr<const PendingNorm> pending) {
  auto again = std::make_shared<MadeAgain>(with_samples(x, state.joined_rows->batch));
  again->add([=, plain = residual.detach(), to = x.detach(), samples = state.joined_rows] {
    integer::ActivationSource source = activation_source(y, pending.get());
    source.residual = view_of(plain, &samples->rows);
    activate(grid_of(y), source, mutable_view_of(to, &samples->rows), nullptr);
  });
  return again;
}

// Batch norm, residual and activation of y, applied or left pending.
at::Tensor deliver(const at::Tensor& residual, UnitState& state, UnitTensors& saved) {
  const IntegerUnitCall& call = state.call;
  auto pending = std::make_shared<const PendingNorm>(
      PendingNorm{state.norm.scale, state.norm.shift, call.activation, state.norm.mean});
  integer::ActivationSource source = activation_source(saved.y, pending.get());
  if (call.delivery == Delivery::pending && !residual.defined()) {
    state.output.output.range = activation_range(state.stats, source);
    state.returned = pending->returned;
    state.output.output.pending = std::move(pending);
    return saved.y.detach();
  }
  const std::vector<int>* rows = rows_of(state.joined_rows);
  source.residual = view_of(residual, rows);
  const integer::CodeGrid grid = grid_of(saved.y);
  std::uint8_t* mask = nullptr;
  if (residual.defined() && call.activation == Activation::relu) {
    saved.mask = at::empty({static_cast<std::int64_t>(mask_bytes(grid))}, at::kByte);
    mask = saved.mask.data_ptr<std::uint8_t>();
  }
  const at::Tensor x = rows == nullptr ? at::empty_like(saved.y)
                                       : room_for_samples(saved.y, state.joined_rows->batch);
  UnitTensor& output = state.output.output;
  output.rows = state.joined_rows;
  if (rows != nullptr) output.sample_ranges.resize(rows->size());
  output.range = activate(grid, source, mutable_view_of(x, rows), mask, output.sample_ranges);
  if (rows != nullptr && state.residual_stays) {
    output.stored = std::make_shared<StoredInput>();
    output.stored->again = made_again_from(saved.y, residual, x, state, std::move(pending));
  }
  return x;
}

at::Tensor channel_means(const at::Tensor& x) {
  const at::Tensor means = at::empty({x.size(0), x.size(1)}, x.options());
  mean_pool(grid_of(x), view_of(x), mutable_view_of(means));
  return means.to(at::kFloat);
}

// The gradients of a unit's handles, in the order in which it returned them.
UnitErrors errors_of(const IntegerUnitCall& call, const variable_list& errors) {
  UnitErrors result{.output = errors[0]};
  if (call.means == ChannelMeans::wanted) result.means = errors.back();
  if (call.delivery != Delivery::ready_twice) return result;
  (result.output.defined() ? result.second : result.output) = errors[1];
  return result;
}

struct UnitFunction : Function<UnitFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x,
                               const c10::optional<at::Tensor>& residual, const at::Tensor& weight,
                               const c10::optional<at::Tensor>&, const c10::optional<at::Tensor>&,
                               const c10::optional<at::Tensor>&,
                               const c10::intrusive_ptr<UnitState>& state) {
    UnitTensors saved{.weight = weight};
    state->joined = residual.has_value();
    convolve(dense(x), *state, saved);
    state->norm = unit_norm(*state);
    const at::Tensor output = deliver(residual ? dense(*residual) : at::Tensor(), *state, saved);
    context->save_for_backward({saved.weight, saved.source, saved.y, saved.mask});
    context->saved_data["state"] = c10::IValue::make_capsule(state);
    context->set_materialize_grads(false);  // a handle that nobody reads costs nothing
    variable_list outputs{output};
    if (state->call.delivery == Delivery::ready_twice) {
      state->output.output.stored = std::make_shared<StoredInput>();
      outputs.push_back(output.detach());
    }
    if (state->call.means == ChannelMeans::wanted) outputs.push_back(channel_means(output));
    return outputs;
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const auto capsule = context->saved_data["state"].toCapsule();
    const auto& state = static_cast<const UnitState&>(*capsule);
    const variable_list tensors = context->get_saved_variables();
    UnitErrors arrived = errors_of(state.call, errors);
    if (!arrived.output.defined()) {
      if (!arrived.means.defined()) return variable_list(7);
      arrived.output = at::zeros_like(tensors[2]);
    }
    const auto gradients =
        unit_gradients(state, {tensors[0], tensors[1], tensors[2], tensors[3]}, arrived,
                       // Edges are counted without the inputs that were left out.
                       {.x = context->needs_input_grad(0),
                        .residual = state.joined && context->needs_input_grad(1)});
    return {gradients.x,
            gradients.residual,
            gradients.weight,
            gradients.gamma,
            gradients.beta,
            gradients.mask,
            {}};
  }
};

c10::optional<at::Tensor> maybe(const at::Tensor& x) {
  return x.defined() ? c10::make_optional(x) : c10::nullopt;
}

}  // namespace

IntegerUnitOutput integer_unit(const UnitTensor& x, const UnitTensor& residual,
                               const at::Tensor& weight, const IntegerUnitCall& call) {
  auto state = c10::make_intrusive<UnitState>();
  state->call = call;
  state->pending = x.pending;
  state->stored = x.stored;
  state->rows = x.rows;
  state->again = again_of(x);
  state->kept = x.kept;
  state->joined_rows = residual.rows;
  state->residual_stays = at::GradMode::is_enabled() && again_of(residual) == nullptr;
  state->gradient_scale = x.gradient_scale;
  const auto* norm = call.norm.norm;
  const variable_list outputs =
      UnitFunction::apply(x.values, maybe(residual.values), weight,
                          maybe(norm != nullptr ? norm->weight : at::Tensor()),
                          maybe(norm != nullptr ? norm->bias : call.norm.bias),
                          maybe(call.choice != nullptr ? call.choice->mask : at::Tensor()), state);
  state->stored.reset();  // else it would live as long as the graph
  IntegerUnitOutput result = std::move(state->output);
  result.output.values = outputs[0];
  result.output.gradient_scale = x.gradient_scale;
  if (call.delivery == Delivery::ready_twice) result.second = outputs[1];
  if (call.means == ChannelMeans::wanted) result.means = outputs.back();
  return result;
}

Range real_range(const UnitTensor& x) {
  const at::Tensor input = dense(x.values);
  return activate(grid_of(input), {.y = view_of(input, rows_of(x.rows))}, {}, nullptr);
}

}  // namespace bitcycle
