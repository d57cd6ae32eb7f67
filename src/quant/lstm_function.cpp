#include "bitcycle/quant/lstm_function.h"

#include "bitcycle/kernels/lstm_cell.h"

#include "quant/dense.h"
#include "quant/first_derivative.h"

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor given_or_zeros(const at::Tensor& error, const at::Tensor& like) {
  return error.defined() ? dense(error) : at::zeros_like(like);
}

struct LstmCellFunction : torch::autograd::Function<LstmCellFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& input_gates,
                               const at::Tensor& hidden_gates, const at::Tensor& cell_before) {
    const at::Tensor input = dense(input_gates), hidden = dense(hidden_gates);
    const at::Tensor cell = dense(cell_before), gates = at::empty_like(input);
    const at::Tensor next = at::empty_like(cell), tanh = at::empty_like(cell);
    const at::Tensor output = at::empty_like(cell);
    lstm_cell_forward({.rows = cell.size(0),
                       .hidden = cell.size(1),
                       .input_gates = input.data_ptr<float>(),
                       .hidden_gates = hidden.data_ptr<float>(),
                       .cell = cell.data_ptr<float>(),
                       .gates = gates.data_ptr<float>(),
                       .next_cell = next.data_ptr<float>(),
                       .tanh_cell = tanh.data_ptr<float>(),
                       .output = output.data_ptr<float>()});
    context->save_for_backward({gates, cell, tanh});
    context->set_materialize_grads(false);
    return {output, next};
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &gates = saved[0], &cell = saved[1], &tanh = saved[2];
    const at::Tensor output_error = given_or_zeros(errors[0], cell);
    const at::Tensor cell_error = given_or_zeros(errors[1], cell);
    const at::Tensor gate_errors = at::empty_like(gates), next_cell_error = at::empty_like(cell);
    lstm_cell_backward({.rows = cell.size(0),
                        .hidden = cell.size(1),
                        .gates = gates.data_ptr<float>(),
                        .cell = cell.data_ptr<float>(),
                        .tanh_cell = tanh.data_ptr<float>(),
                        .output_error = output_error.data_ptr<float>(),
                        .cell_error = cell_error.data_ptr<float>(),
                        .gate_errors = gate_errors.data_ptr<float>(),
                        .next_cell_error = next_cell_error.data_ptr<float>()});
    return {gate_errors, gate_errors, next_cell_error};
  }
};

}  // namespace

std::pair<at::Tensor, at::Tensor> lstm_cell(const at::Tensor& input_gates,
                                            const at::Tensor& hidden_gates,
                                            const at::Tensor& cell) {
  if (cell.is_cpu() && cell.scalar_type() == at::kFloat) {
    const auto result = LstmCellFunction::apply(input_gates, hidden_gates, cell);
    return {result[0], result[1]};
  }
  const std::vector<at::Tensor> gates = (input_gates + hidden_gates).chunk(4, -1);
  const at::Tensor next = gates[1].sigmoid() * cell + gates[0].sigmoid() * gates[2].tanh();
  return {gates[3].sigmoid() * next.tanh(), next};
}

}  // namespace bitcycle
