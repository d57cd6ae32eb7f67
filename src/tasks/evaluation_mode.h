#pragma once

// A model as it is scored: without gradients, in evaluation mode, and afterwards as it was before,
// however the scoring ends.

#include "bitcycle/quant/torch.h"

namespace bitcycle {

class EvaluationMode {
 public:
  explicit EvaluationMode(torch::nn::Module& model)
      : model_(model), was_training_(model.is_training()) {
    model_.eval();
  }
  ~EvaluationMode() { model_.train(was_training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  torch::NoGradGuard no_grad_;
  torch::nn::Module& model_;
  bool was_training_;
};

}  // namespace bitcycle
