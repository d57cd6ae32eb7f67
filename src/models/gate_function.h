#pragma once

// One gate's decision as one node of autograd: embedding, recurrent cell, scores, softmax, choice.
// The layers are small and the batch is short, so that plain loops take a fraction of the time of
// as many tensor operations. Sums run in a fixed order, samples in fixed shards: the number of
// threads does not change a byte.

#include "bitcycle/quant/torch.h"

#include <functional>
#include <vector>

namespace bitcycle {

// weight [out, in], bias [out]
struct GateLayer {
  at::Tensor weight, bias;
};

struct GateLayers {
  GateLayer first;  // with a ReLU; undefined where there is none
  GateLayer embedding, ih, hh, head;
};

struct GateOutput {
  std::vector<int> chosen;    // of each sample
  at::Tensor mask;            // [samples, options]; gradients go to the probabilities
  at::Tensor hidden, memory;  // of the cell, [samples, state]
};

// `means` [samples, channels]; hidden and memory as the gate before left them. Chooses the first of
// the highest scores of each sample, or what `forced` says.
GateOutput run_gate(const at::Tensor& means, const at::Tensor& hidden, const at::Tensor& memory,
                    const GateLayers& layers, const std::vector<int>* forced);

}  // namespace bitcycle
