#pragma once

// What a scheme makes of the tensors of one call; roles at 0 bits pass as they are.

#include "bitcycle/quant/layer_function.h"

namespace bitcycle {

at::Tensor quantized_input(const at::Tensor& x, const LayerCall& call);
at::Tensor quantized_weight(const at::Tensor& weight, const LayerCall& call);

// The error of a layer's output, as each of the two products of the backward pass reads it.
struct CallErrors {
  at::Tensor for_input, for_weight;
};
CallErrors quantized_errors(const at::Tensor& error, const LayerCall& call);

// Whether the gradient rules ask for the tensors as they were before they were quantized.
bool asks_for_input(const LayerCall& call);
bool asks_for_weight(const LayerCall& call);

// From the gradient of the quantized tensor to that of the tensor, which is defined where it is
// asked for.
at::Tensor through_input(const at::Tensor& gradient, const at::Tensor& x, const LayerCall& call);
at::Tensor through_weight(const at::Tensor& gradient, const at::Tensor& weight,
                          const LayerCall& call);

// The gradient of a choice's mask (SampleChoice), [samples, options], from the gradient of the
// quantized input.
at::Tensor mask_gradient(const at::Tensor& gradient, const at::Tensor& x, const LayerCall& call);

}  // namespace bitcycle
