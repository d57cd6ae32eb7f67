#include "bitcycle/train/session.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/fingerprint.h"
#include "bitcycle/base/memory.h"
#include "bitcycle/network/zoo.h"

#include <algorithm>
#include <cmath>

#include <omp.h>
#include <torch/cuda.h>

namespace bitcycle {
namespace {

using Split = DatasetOptions::Split;

at::Device parse_device(const std::string& name) {
  try {
    return at::Device(name);
  } catch (const c10::Error&) {
    throw Error(ErrorCode::recipe, "device = \"" + name + "\" is no device that LibTorch knows",
                "Use \"cpu\", \"cuda\" or \"cuda:N\".");
  }
}

at::Device open_device(const std::string& name) {
  const at::Device device = parse_device(name);
  if (device.is_cuda() && !torch::cuda::is_available()) {
    throw Error(ErrorCode::recipe, "device = \"" + name + "\", but this LibTorch finds no CUDA GPU",
                "Use device = \"cpu\".");
  }
  return device;
}

DatasetOptions dataset_options(const Recipe& recipe, DatasetOptions::Split split) {
  return {.name = recipe.data.dataset,
          .root = recipe.data.root,
          .split = split,
          .validation = recipe.data.validation,
          .limit = recipe.data.limit,
          .seed = recipe.seed};
}

int class_count(const Recipe& recipe, const Dataset& dataset) {
  const int classes = recipe.model.classes.value_or(dataset.classes());
  if (classes >= dataset.classes()) return classes;
  throw Error(ErrorCode::recipe,
              "model.classes = " + std::to_string(classes) + ", but the dataset \"" +
                  recipe.data.dataset + "\" has " + std::to_string(dataset.classes()) + " classes",
              "Leave model.classes out to take the dataset's number.");
}

Step total_steps(const Recipe& recipe, Step steps_per_epoch) {
  if (recipe.steps > 0) return recipe.steps;
  return std::max<Step>(1, std::llround(recipe.epochs * static_cast<double>(steps_per_epoch)));
}

Augmentation recipe_augmentation(const DataRecipe& data) {
  return data.augment == DataRecipe::Augment::standard
             ? training_augmentation(data.dataset, data.image_size)
             : evaluation_augmentation(data.dataset, data.image_size);
}

}  // namespace

Executor executor_of(Backend backend, PrecisionRecipe::Scheme scheme) {
  if (backend == Backend::integer) return Executor::integer;
  return scheme == PrecisionRecipe::Scheme::integer ? Executor::simulate_integer
                                                    : Executor::simulate;
}

Session::Session(const Recipe& recipe)
    : recipe_(recipe),
      device_(open_device(recipe.device)),
      training_(open_training_sets(dataset_options(recipe, DatasetOptions::Split::train))),
      training_augmentation_(recipe_augmentation(recipe.data)),
      evaluation_augmentation_(
          evaluation_augmentation(recipe.data.dataset, recipe.data.image_size)) {
  at::set_num_threads(recipe.threads > 0 ? recipe.threads : omp_get_max_threads());
  const Step per_epoch =
      (training_.train->size() + recipe.data.batch_size - 1) / recipe.data.batch_size;
  length_ = {total_steps(recipe, per_epoch), per_epoch};
  const Network network = make_network(
      recipe.model.name,
      {.classes = class_count(recipe, *training_.train),
       .input = output_shape(training_augmentation_, training_.train->image(0).shape)});
  model_ = NetworkModel(network, recipe.seed);
  PrecisionPlan plan(recipe.precision, planned_layers(network), length_);
  backend_ =
      choose_backend({.backend = recipe.precision.backend, .device = recipe.device}, network, plan);
  model_->set_executor(executor_of(backend_.backend, recipe.precision.scheme));
  controller_ = std::make_unique<PrecisionController>(*model_, std::move(plan), recipe.seed);
  controller_->set_range_start(recipe.precision.range_start);
  model_->to(device_);
}

void Session::require_trainable() {
  split(DatasetOptions::Split::test);
  require_step_memory();
}

// A lower bound: weights and their gradients in float, activations as the integer scheme keeps
// them, in half precision. Simulation keeps several times as much.
void Session::require_step_memory() const {
  constexpr double kParameterBytes = 2 * sizeof(float);
  constexpr double kActivationBytes = 2;
  const auto batch =
      static_cast<double>(std::min<std::int64_t>(recipe_.data.batch_size, training_.train->size()));
  const double least = static_cast<double>(network().parameters()) * kParameterBytes +
                       static_cast<double>(network().activations()) * batch * kActivationBytes;
  require_memory(static_cast<std::uint64_t>(least),
                 "a training step of " + recipe_.model.name +
                     " with data.batch_size = " + std::to_string(recipe_.data.batch_size),
                 "This is the least it takes. Lower data.batch_size or the size of the pictures, "
                 "or use a smaller network.");
}

std::string Session::data_fingerprint() {
  Fingerprint print;
  for (const Split which : {Split::train, Split::validation, Split::test}) {
    if (const auto dataset = split(which)) print.add(dataset->fingerprint());
  }
  return print.text();
}

std::unique_ptr<Loader> Session::training_batches(Step first_step) const {
  return std::make_unique<Loader>(training_.train, training_augmentation_,
                                  LoaderOptions{.batch_size = recipe_.data.batch_size,
                                                .seed = recipe_.seed,
                                                .workers = recipe_.data.workers,
                                                .first_step = first_step});
}

std::shared_ptr<const Dataset> Session::split(DatasetOptions::Split which) {
  if (which == DatasetOptions::Split::train) return training_.train;
  if (which == DatasetOptions::Split::validation) return training_.validation;
  if (test_ == nullptr) test_ = open_dataset(dataset_options(recipe_, which));
  return test_;
}

Score Session::score(DatasetOptions::Split which, const EvaluationBits& bits, Step step) {
  controller_->apply(bits, step);
  return evaluate(*model_, split(which), evaluation_augmentation_, recipe_.data.batch_size,
                  recipe_.data.workers, device_);
}

}  // namespace bitcycle
