#pragma once

// One LSTM layer over a window of time steps: the input-to-hidden products of the whole window at
// once, the hidden-to-hidden products step by step, gates and cells in float, in the order i, f, g,
// o (bitcycle/kernels/lstm_cell.h).

#include "bitcycle/nn/quant_linear.h"

namespace bitcycle {

// The layer's two products.
struct LstmLayer {
  QuantLinear ih{nullptr};
  QuantLinear hh{nullptr};
};

struct LstmWindow {
  at::Tensor output;  // [time, batch, hidden]
  at::Tensor cell;    // [batch, hidden], after the last step
};

// x [time, batch, in], hidden and cell [batch, hidden]. In float on the CPU the steps are one node
// of autograd.
LstmWindow run_window(LstmLayer& layer, const at::Tensor& x, const at::Tensor& hidden,
                      const at::Tensor& cell);

// The same made of a call of hh and of lstm_cell per time step; what other devices use. Under
// simulation weight and bias gradients of hh are rounded otherwise (a sum per step here, one per
// window there); everything else is the same to the byte.
LstmWindow run_window_by_steps(LstmLayer& layer, const at::Tensor& x, const at::Tensor& hidden,
                               const at::Tensor& cell);

}  // namespace bitcycle
