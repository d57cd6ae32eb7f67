#pragma once

// A convolution unit executed in integers: codes, integer products, batch norm, residual and
// activation in fused passes (bitcycle/kernels/integer). Equations: docs/numerics.md, "The integer
// scheme". What it keeps for the backward pass is the input's codes, the convolution's output and,
// if a residual was added, a bit per element.
//
// Note [Scaled gradients]: between units that run in half precision, gradients are kept multiplied
// by gradient_scale(batch), because those of a mean over a batch lie where halves have few bits
// left. The factor is a power of two, so it changes no digit; it is taken out where gradients
// leave.

#include "bitcycle/base/random.h"
#include "bitcycle/kernels/integer/passes.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/network/network.h"
#include "bitcycle/quant/torch.h"

#include <memory>

namespace bitcycle {

// The factor of Note [Scaled gradients]: 32 times the batch, rounded up to a power of two.
float gradient_scale(std::int64_t batch);

// Whether the integer kernels can execute a layer of these bits.
bool executable(LayerBits bits);

// From float to half and back, scaling the gradients on the way as the note says.
at::Tensor enter_half(const at::Tensor& x);
at::Tensor leave_half(const at::Tensor& x);
// Two copies of a half tensor that share its memory, for two readers; their gradients are added in
// one pass, where LibTorch's own sum of halves is slow.
std::pair<at::Tensor, at::Tensor> fork_half(const at::Tensor& x);

// One call of a unit.
struct IntegerUnitCall {
  integer::ConvShape shape;
  LayerBits bits;
  NoiseKey noise;
  Activation activation = Activation::none;
  integer::Range input_range;                     // over which the input is quantized
  std::shared_ptr<integer::ConvWeights> weights;  // memory for the codes, reused every step
  torch::nn::BatchNorm2dImpl* norm = nullptr;
  integer::Range* output_range = nullptr;  // receives the output's range
};

// activation(norm(conv(x)) + residual). x is half or float, channels-last; the output has its type.
at::Tensor integer_unit(const at::Tensor& x, const c10::optional<at::Tensor>& residual,
                        const at::Tensor& weight, const IntegerUnitCall& call);

// The range of a half or float tensor.
integer::Range real_range(const at::Tensor& x);

}  // namespace bitcycle
