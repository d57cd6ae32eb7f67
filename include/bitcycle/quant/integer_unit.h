#pragma once

// A convolution unit in the integer scheme: codes, integer products, batch norm, residual and
// activation in fused passes (bitcycle/kernels/integer). Equations: docs/numerics.md. Kept
// for the backward pass: the convolution's output y; the input's codes, unless they can be made
// again from the y of the unit before (Note [Pending activations]); and, if a residual was added, a
// bit an element.

#include "bitcycle/base/random.h"
#include "bitcycle/events/layer_statistics.h"
#include "bitcycle/kernels/integer/conv.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/network/network.h"
#include "bitcycle/quant/executor.h"
#include "bitcycle/quant/sample_choice.h"
#include "bitcycle/quant/unit_tensor.h"

namespace bitcycle {

// What follows the convolution: batch norm, or the bias of a fully connected layer.
struct UnitNorm {
  torch::nn::BatchNorm2dImpl* norm = nullptr;
  at::Tensor bias;  // where there is no norm
};

// One call of a unit.
struct IntegerUnitCall {
  integer::ConvShape shape;
  LayerBits bits;
  std::shared_ptr<const SampleChoice> choice;  // of activation and error bits; null: `bits`
  NoiseKey noise;
  Executor executor = Executor::integer;
  Activation activation = Activation::none;
  Delivery delivery = Delivery::ready;
  ChannelMeans means = ChannelMeans::unwanted;
  Range input_range;                              // over which the input is quantized
  std::shared_ptr<integer::ConvWeights> weights;  // memory for the codes, reused every step
  UnitNorm norm;
  std::shared_ptr<LayerStatistics> observed = {};  // added to; null: nobody looks
};

// activation(norm(conv(x)) + residual). x is half or float, channels-last; the output has its type,
// and the rows of a residual that has some. Nothing is pending in the residual.
IntegerUnitOutput integer_unit(const UnitTensor& x, const UnitTensor& residual,
                               const at::Tensor& weight, const IntegerUnitCall& call);

// The range of a half or float tensor in which nothing is pending.
Range real_range(const UnitTensor& x);

}  // namespace bitcycle
