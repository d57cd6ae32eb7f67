#pragma once

// What a recipe stands for, opened: datasets, network, model, and the precision of every layer.
// Training and evaluation both start from here.

#include "bitcycle/config/backend.h"
#include "bitcycle/data/catalog.h"
#include "bitcycle/models/network_model.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/train/evaluate.h"

#include <memory>

namespace bitcycle {

// How the units of a network run under a backend that was chosen (and so is not automatic).
Executor executor_of(Backend backend, PrecisionRecipe::Scheme scheme);

class Session {
 public:
  // Throws Error(data) when the dataset is missing or damaged, Error(recipe) when the recipe does
  // not fit it.
  explicit Session(const Recipe& recipe);

  const Recipe& recipe() const { return recipe_; }
  const at::Device& device() const { return device_; }
  const RunLength& length() const { return length_; }
  // What carries out the recipe's precision, and what there is to say about it.
  const BackendChoice& backend() const { return backend_; }
  const Network& network() const { return model_->network(); }
  NetworkModel& model() { return model_; }
  PrecisionController& controller() { return *controller_; }

  // Throws what would end a training run later: Error(data) when there is no test set to score it
  // on, Error(memory) when a step cannot fit.
  void require_trainable();
  // Of the data of all splits; see Dataset::fingerprint.
  std::string data_fingerprint();

  // A stream of training batches from a step on.
  std::unique_ptr<Loader> training_batches(Step first_step) const;
  // Scores the model on a split at the given precision. The validation split must not be empty.
  Score score(DatasetOptions::Split split, const EvaluationBits& bits, Step step);

 private:
  std::shared_ptr<const Dataset> split(DatasetOptions::Split which);
  void require_step_memory() const;

  Recipe recipe_;
  at::Device device_;
  TrainingSets training_;
  std::shared_ptr<const Dataset> test_;  // opened when first needed
  Augmentation training_augmentation_, evaluation_augmentation_;
  RunLength length_;
  BackendChoice backend_;
  NetworkModel model_{nullptr};
  std::unique_ptr<PrecisionController> controller_;
};

}  // namespace bitcycle
