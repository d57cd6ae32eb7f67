#pragma once

// The elementwise part of an LSTM's time step (bitcycle/kernels/lstm_cell.h), differentiable. In
// float on the CPU it is one pass each way; elsewhere LibTorch operations.

#include "bitcycle/quant/torch.h"

#include <utility>

namespace bitcycle {

// Gates are the sums of two tensors [batch, 4 * hidden] in the order i, f, g, o; `cell` is
// [batch, hidden]. Returns the output h and the next cell.
std::pair<at::Tensor, at::Tensor> lstm_cell(const at::Tensor& input_gates,
                                            const at::Tensor& hidden_gates, const at::Tensor& cell);

}  // namespace bitcycle
