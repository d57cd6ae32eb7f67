#pragma once

// Which of several widths each sample of a batch has in a layer: what a gate chose
// (models/gates.h).

#include "bitcycle/network/layer_bits.h"
#include "bitcycle/quant/torch.h"

#include <vector>

namespace bitcycle {

struct SampleChoice {
  std::vector<LayerBits> options;  // weights have the same bits in all of them
  std::vector<int> of_sample;      // an index into `options` for each sample of the batch
  // [samples, options], 1 where chosen and 0 elsewhere. Its gradient is, per sample and option, the
  // inner product of the gradient of the layer's quantized input with the input as that option
  // quantizes it. May be undefined.
  at::Tensor mask;

  // The samples that chose an option, ascending.
  std::vector<int> samples_of(std::size_t option) const;
  // The widest bits of each role among the options.
  LayerBits widest() const;
};

}  // namespace bitcycle
