#pragma once

// Looks at what quantizing does to the tensors of a convolution unit in the integer scheme; see
// observe.h. Codes of the pictures that are looked at are made again, by the makers that the
// convolution was given.

#include "quant/unit_state.h"

namespace bitcycle {

// After the forward pass: weights, and the input that `finest` makes the codes of.
void observe_forward(const UnitState& state, const at::Tensor& weight,
                     const integer::ActivationSource& input, const integer::CodeMaker& finest);

// In the backward pass: the errors, which were quantized over `range` with the weight scale of
// their channel multiplied in, and are looked at without it. `sums` are those of their gradient.
void observe_backward(const UnitState& state, const UnitTensors& saved,
                      const integer::ErrorSource& errors, const integer::GradientSums& sums,
                      Range range);

}  // namespace bitcycle
