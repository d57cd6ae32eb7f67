#pragma once

// Pictures to classes: cross-entropy, and accuracy as what counts. The model is one of the zoo's
// networks, cut to the dataset's pictures and classes.

#include "bitcycle/data/catalog.h"
#include "bitcycle/data/loader.h"
#include "bitcycle/models/network_model.h"
#include "bitcycle/tasks/task.h"

namespace bitcycle {

// Pictures as a channels-last tensor, and their labels.
struct TensorBatch {
  at::Tensor images;  // [count, channels, height, width]
  at::Tensor labels;  // [count]
};
TensorBatch to_tensors(Batch batch, const at::Device& device);

class ImageClassification : public Task {
 public:
  ImageClassification(const Recipe& recipe, const at::Device& device);
  // On these pictures, in place of those that the recipe names.
  ImageClassification(const Recipe& recipe, const at::Device& device, TrainingSets training);

  const TaskMetrics& metrics() const override;
  torch::nn::Module& model() override { return *model_; }
  std::vector<LayerInfo> layers() const override { return layers_of(model_->network()); }

  std::int64_t batches_per_epoch() const override;
  std::optional<double> work_of_batches(std::int64_t count) const override;
  void require_trainable() override;
  std::string data_fingerprint() override;
  std::vector<std::string> notices() const override;
  RunTexts descriptions() const override;  // the names of the classes

  void start(std::int64_t first_batch) override;
  TaskLoss next_loss() override;
  std::string first_nonfinite_layer() override;
  Score evaluate(Split split) override;
  Score evaluate_in_batches(Split split, const std::function<void()>& between_batches) override;
  std::unique_ptr<KeptSamples> keep_samples(std::int64_t count, RandomKey key) override;

  // The probability of each class for a picture, RGB and of any size, that goes through what
  // evaluation does to pictures. It is a batch of its own, so that nothing else decides about it.
  std::vector<double> ask(const Image& picture);

 private:
  std::shared_ptr<const Dataset> split(Split which);
  void require_step_memory() const;
  void require_room_for(std::int64_t samples) const;

  Recipe recipe_;
  at::Device device_;
  TrainingSets training_;
  std::shared_ptr<const Dataset> test_;  // opened when first needed
  Augmentation training_augmentation_, evaluation_augmentation_;
  NetworkModel model_{nullptr};
  std::unique_ptr<Loader> batches_;
  TensorBatch batch_;  // the last one
};

}  // namespace bitcycle
