#pragma once

// What is to be said of a run whose numbers are no longer finite.

#include "bitcycle/quant/named_tensors.h"
#include "bitcycle/quant/torch.h"
#include "bitcycle/tasks/task.h"

#include <string>

namespace bitcycle {

// The first tensor that holds a value which is not finite, "" if none does; of a model, parameters
// and buffers.
std::string first_nonfinite_tensor(const NamedTensors& tensors);
std::string first_nonfinite_tensor(const torch::nn::Module& model);

// Why the loss of the last batch is not finite, as far as one can tell afterwards. Call it only
// when the run is lost.
std::string cause_of_nonfinite_loss(Task& task);

}  // namespace bitcycle
