#pragma once

// Several calls of one fully connected layer within a single node of autograd: a recurrent layer
// multiplies with the same weights at every time step of a window. Weights are quantized once;
// every call has its own range and its own noise, as if the layer had been called that often.
// Whoever has faster products for such calls derives another class.

#include "bitcycle/quant/torch.h"

namespace bitcycle {

struct LinearGradients {
  at::Tensor weight;
  at::Tensor bias;  // undefined without one
};

enum class InputGradient { wanted, not_wanted };

class LinearCalls : public torch::CustomClassHolder {
 public:
  // x [rows, in] to [rows, out].
  virtual at::Tensor forward(const at::Tensor& x) = 0;
  // For the calls in reverse order: the error of the output to that of x, undefined if it is not
  // wanted.
  virtual at::Tensor backward(const at::Tensor& error, InputGradient wanted) = 0;
  // After all of them: the sums over the calls. A further backward pass may follow.
  virtual LinearGradients gradients() = 0;
};

}  // namespace bitcycle
