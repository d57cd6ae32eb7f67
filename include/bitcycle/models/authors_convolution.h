#pragma once

// A convolution in the way in which the code of CPT's authors simulates low precision: the SBM
// scheme (docs/numerics.md) in separate float operations, each of which reads and writes whole
// tensors, as PyTorch users write it. For benchmarks alone: what training with Bitcycle is timed
// against. The values are those of bitcycle/quant/quantizer.h, but for the noise of the errors.

#include "bitcycle/network/layer_bits.h"
#include "bitcycle/quant/layer_function.h"
#include "bitcycle/quant/torch.h"

namespace bitcycle {

// The range of a layer's inputs as it moves over training; evaluation would read it.
struct AuthorsRange {
  at::Tensor width = at::zeros({1});
  at::Tensor low = at::zeros({1});
};

// What a layer in training gives: quantized input and weight convolved; on the way back the error
// is quantized once, stochastically, and autograd takes both products of it. Error bits of 0 leave
// errors as they are; weight and activation bits are above 0.
at::Tensor authors_convolution(const at::Tensor& x, const at::Tensor& weight,
                               const ConvGeometry& geometry, const LayerBits& bits,
                               AuthorsRange& running);

}  // namespace bitcycle
