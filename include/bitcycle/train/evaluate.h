#pragma once

// Loss and accuracy of a model over a whole dataset, in evaluation mode.

#include "bitcycle/data/loader.h"
#include "bitcycle/models/network_model.h"

namespace bitcycle {

struct Score {
  double loss = 0;      // mean cross-entropy
  double accuracy = 0;  // percent of samples classified correctly
  std::int64_t samples = 0;
};

// A batch's pictures as a channels-last tensor on `device`, and its labels.
struct TensorBatch {
  at::Tensor images;  // [count, channels, height, width]
  at::Tensor labels;  // [count]
};
TensorBatch to_tensors(Batch batch, const at::Device& device);

// Number of rows whose largest logit is at the label.
std::int64_t count_correct(const at::Tensor& logits, const at::Tensor& labels);

// Scores every sample of `dataset` once, at whatever precision the model's layers are set to.
Score evaluate(NetworkModelImpl& model, std::shared_ptr<const Dataset> dataset,
               const Augmentation& augmentation, std::int64_t batch_size, int workers,
               const at::Device& device);

}  // namespace bitcycle
