#pragma once

// SGD whose arithmetic a scheme quantizes (Scheme::update).

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/train/optimizer.h"

#include "train/update_rules.h"

#include <vector>

namespace bitcycle {

// Finds out which parameters are the weights of quantized layers, and which those of the norms
// behind them.
void find_owners(const torch::nn::Module& model, std::vector<OptimizerSlot>& slots);

// Whether the parameter is moved in the scheme at the present bits of its layer.
bool is_quantized(const OptimizerSlot& slot);

// SGD with momentum, at the layer's present bits.
void quantized_sgd(OptimizerSlot& slot, const UpdateStep& step, const UpdateQuantizer& quantizers,
                   double progress);

// Quantizes the weights that a run starts from, in the layers that it will quantize.
void quantize_start(torch::nn::Module& model, const UpdateQuantizer& quantizers,
                    const PrecisionPolicy& policy);

}  // namespace bitcycle
