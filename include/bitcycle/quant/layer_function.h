#pragma once

// The differentiable core of the quantized layers: quantize, multiply, and in the backward pass
// quantize the error once and multiply twice. Straight-through: gradients go unmasked to the input
// and to the master weight.

#include "bitcycle/base/random.h"
#include "bitcycle/kernels/quantize.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/quant/torch.h"

#include <vector>

namespace bitcycle {

struct ConvGeometry {
  std::vector<std::int64_t> stride, padding, dilation;
  std::int64_t groups = 1;
};

// How one call quantizes: the bits, the range of the input, the key of the error's noise.
struct LayerCall {
  LayerBits bits;
  Range input_range;  // unused when the activation is in float
  NoiseKey noise;
};

at::Tensor quantized_conv2d(const at::Tensor& x, const at::Tensor& weight,
                            const ConvGeometry& geometry, const LayerCall& call);
// x [..., in], weight [out, in].
at::Tensor quantized_linear(const at::Tensor& x, const at::Tensor& weight, const LayerCall& call);

}  // namespace bitcycle
