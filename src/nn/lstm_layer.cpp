#include "bitcycle/nn/lstm_layer.h"

#include "bitcycle/kernels/lstm_cell.h"
#include "bitcycle/nn/linear_calls.h"
#include "bitcycle/quant/lstm_function.h"

#include "quant/dense.h"
#include "quant/first_derivative.h"

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const float* step_of(const at::Tensor& x, std::int64_t t) {
  return x.data_ptr<float>() + t * x.stride(0);
}
float* mutable_step_of(const at::Tensor& x, std::int64_t t) {
  return x.data_ptr<float>() + t * x.stride(0);
}

// What a window keeps for its backward pass.
struct WindowTensors {
  at::Tensor gates;  // [time, batch, 4 * hidden], activated
  at::Tensor cells;  // [time + 1, batch, hidden], from before the first step on
  at::Tensor tanhs;  // [time, batch, hidden], of the cells after each step
};

void forward_step(std::int64_t t, const at::Tensor& input_gates, const at::Tensor& hidden_gates,
                  const WindowTensors& window, const at::Tensor& output) {
  lstm_cell_forward({.rows = output.size(1),
                     .hidden = output.size(2),
                     .input_gates = step_of(input_gates, t),
                     .hidden_gates = hidden_gates.data_ptr<float>(),
                     .cell = step_of(window.cells, t),
                     .gates = mutable_step_of(window.gates, t),
                     .next_cell = mutable_step_of(window.cells, t + 1),
                     .tanh_cell = mutable_step_of(window.tanhs, t),
                     .output = mutable_step_of(output, t)});
}

void backward_step(std::int64_t t, const WindowTensors& window, const at::Tensor& output_error,
                   const at::Tensor& cell_error, const at::Tensor& gate_errors,
                   const at::Tensor& next_cell_error) {
  lstm_cell_backward({.rows = window.tanhs.size(1),
                      .hidden = window.tanhs.size(2),
                      .gates = step_of(window.gates, t),
                      .cell = step_of(window.cells, t),
                      .tanh_cell = step_of(window.tanhs, t),
                      .output_error = output_error.data_ptr<float>(),
                      .cell_error = cell_error.data_ptr<float>(),
                      .gate_errors = mutable_step_of(gate_errors, t),
                      .next_cell_error = next_cell_error.data_ptr<float>()});
}

struct WindowFunction : torch::autograd::Function<WindowFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& input,
                               const at::Tensor& hidden, const at::Tensor& cell, const at::Tensor&,
                               const c10::optional<at::Tensor>&,
                               const c10::intrusive_ptr<LinearCalls>& calls) {
    const at::Tensor input_gates = dense(input);
    const std::int64_t time = input.size(0), batch = input.size(1), width = cell.size(1);
    const WindowTensors window{at::empty_like(input_gates),
                               at::empty({time + 1, batch, width}, cell.options()),
                               at::empty({time, batch, width}, cell.options())};
    const at::Tensor output = at::empty({time, batch, width}, cell.options());
    window.cells[0].copy_(cell);
    at::Tensor h = dense(hidden);
    for (std::int64_t t = 0; t < time; ++t, h = output[t - 1]) {
      forward_step(t, input_gates, calls->forward(h), window, output);
    }
    context->save_for_backward({window.gates, window.cells, window.tanhs});
    context->saved_data["calls"] = c10::IValue::make_capsule(calls);
    context->set_materialize_grads(false);
    // Calls may keep views of the output. What is returned comes to own this node, and so must not
    // be what they are views of, or nobody would ever let go of a window.
    return {output.variable_data(), window.cells[time].clone()};
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const variable_list saved = context->get_saved_variables();
    const WindowTensors window{saved[0], saved[1], saved[2]};
    const auto capsule = context->saved_data["calls"].toCapsule();
    auto& calls = static_cast<LinearCalls&>(*capsule);
    const at::Tensor gate_errors = at::empty_like(window.gates);
    at::Tensor cell_error =
        errors[1].defined() ? dense(errors[1]) : at::zeros_like(window.cells[0]);
    at::Tensor later;  // the error of h that comes from the next step
    for (std::int64_t t = window.tanhs.size(0) - 1; t >= 0; --t) {
      const at::Tensor error = sum(errors[0], t, later, window);
      const at::Tensor next_cell_error = at::empty_like(cell_error);
      backward_step(t, window, error, cell_error, gate_errors, next_cell_error);
      const bool wanted = t > 0 || context->needs_input_grad(1);
      later = calls.backward(gate_errors[t],
                             wanted ? InputGradient::wanted : InputGradient::not_wanted);
      cell_error = next_cell_error;
    }
    const LinearGradients gradients = calls.gradients();
    return {gate_errors, later, cell_error, gradients.weight, gradients.bias, {}};
  }

  // The error of h at step t: what reads it outside, and the step after it.
  static at::Tensor sum(const at::Tensor& outside, std::int64_t t, const at::Tensor& later,
                        const WindowTensors& window) {
    if (!outside.defined()) return later.defined() ? later : at::zeros_like(window.tanhs[t]);
    return later.defined() ? outside[t] + later : dense(outside[t]);
  }
};

}  // namespace

LstmWindow run_window_by_steps(LstmLayer& layer, const at::Tensor& x, const at::Tensor& hidden,
                               const at::Tensor& cell) {
  at::Tensor h = hidden, c = cell;
  std::vector<at::Tensor> outputs;
  for (const at::Tensor& input_gates : layer.ih->forward(x).unbind(0)) {
    std::tie(h, c) = lstm_cell(input_gates, layer.hh->forward(h), c);
    outputs.push_back(h);
  }
  return {at::stack(outputs), c};
}

LstmWindow run_window(LstmLayer& layer, const at::Tensor& x, const at::Tensor& hidden,
                      const at::Tensor& cell) {
  if (!cell.is_cpu() || cell.scalar_type() != at::kFloat) {
    return run_window_by_steps(layer, x, hidden, cell);
  }
  const at::Tensor& bias = layer.hh->bias;
  const auto outputs = WindowFunction::apply(
      layer.ih->forward(x), hidden, cell, layer.hh->weight,
      bias.defined() ? c10::make_optional(bias) : c10::nullopt, layer.hh->calls(hidden, x.size(0)));
  return {outputs[0], outputs[1]};
}

}  // namespace bitcycle
