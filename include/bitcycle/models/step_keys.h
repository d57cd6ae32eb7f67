#pragma once

// Gives the modules of a model that draw random numbers (dropout) the key of each step: a function
// of the seed, the module's name and the step.

#include "bitcycle/nn/step_keyed.h"
#include "bitcycle/quant/torch.h"
#include "bitcycle/schedule/schedule.h"

#include <vector>

namespace bitcycle {

class StepKeys {
 public:
  // The model must outlive the keys.
  StepKeys(torch::nn::Module& model, std::uint64_t seed);

  void apply(Step step);

 private:
  struct Target {
    StepKeyed* module;
    RandomKey key;
  };
  std::vector<Target> targets_;
};

}  // namespace bitcycle
