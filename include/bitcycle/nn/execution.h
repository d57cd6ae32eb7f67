#pragma once

// Who carried out the calls of a model's quantized layers, and what kept the integer kernels from
// those that they did not: to be looked at after a step.
//
//   model->forward(x);
//   std::cout << execution_table(executions_of(*model));

#include "bitcycle/quant/torch.h"

#include <string>
#include <vector>

namespace bitcycle {

// How the last call of a layer was carried out.
struct Execution {
  enum class Kind { not_called, in_float, simulated, executed };

  Kind kind = Kind::not_called;
  std::string obstacle = {};  // completes "layer conv1 has ...": "a dilation of 2"
};

struct LayerExecution {
  std::string layer;
  Execution last_call;
};

// In the order of registration.
std::vector<LayerExecution> executions_of(const torch::nn::Module& model);
// A row per layer: its name, how it was carried out, and why not in integers.
std::string execution_table(const std::vector<LayerExecution>& executions);

}  // namespace bitcycle
