#include "bitcycle/kernels/lstm_cell.h"

#include "kernels/blocks.h"
#include "kernels/elementwise.h"

namespace bitcycle {

void lstm_cell_forward(const LstmCell& s) {
  const auto& kernels = elementwise_kernels();
  for_each_block(s.rows, 1, [&](Block block) {
    const std::int64_t at = block.begin * s.hidden;
    kernels.lstm_row(s.input_gates + 4 * at, s.hidden_gates + 4 * at, s.cell + at, s.hidden,
                     s.gates + 4 * at, s.next_cell + at, s.tanh_cell + at, s.output + at);
  });
}

void lstm_cell_backward(const LstmCellBackward& s) {
  const auto& kernels = elementwise_kernels();
  for_each_block(s.rows, 1, [&](Block block) {
    const std::int64_t at = block.begin * s.hidden;
    kernels.lstm_row_backward(s.gates + 4 * at, s.cell + at, s.tanh_cell + at, s.output_error + at,
                              s.cell_error + at, s.hidden, s.gate_errors + 4 * at,
                              s.next_cell_error + at);
  });
}

}  // namespace bitcycle
