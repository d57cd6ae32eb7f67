#pragma once

// The differentiable core of the quantized layers where they are simulated: quantize, multiply, and
// in the backward pass quantize the error and multiply twice. How each tensor is quantized, and
// what its gradient is, says the scheme.

#include "bitcycle/base/random.h"
#include "bitcycle/events/layer_statistics.h"
#include "bitcycle/kernels/range.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/quant/sample_choice.h"
#include "bitcycle/quant/scheme.h"
#include "bitcycle/quant/torch.h"

#include <memory>
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
  std::shared_ptr<const Scheme> scheme;
  std::shared_ptr<const SampleChoice> choice = {};  // in place of activation and error bits
  std::shared_ptr<LayerStatistics> observed = {};   // added to; null: nobody looks
};

at::Tensor quantized_conv2d(const at::Tensor& x, const at::Tensor& weight,
                            const ConvGeometry& geometry, const LayerCall& call);
// x [..., in], weight [out, in].
at::Tensor quantized_linear(const at::Tensor& x, const at::Tensor& weight, const LayerCall& call);
// A layer's bias as the scheme has it at the call's bits; its gradient passes straight through.
at::Tensor quantized_bias(const at::Tensor& bias, const LayerCall& call);

}  // namespace bitcycle
