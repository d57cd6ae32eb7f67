#include "bitcycle/tasks/image_classification.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/fingerprint.h"
#include "bitcycle/base/memory.h"
#include "bitcycle/config/notices.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/cost/epoch_work.h"
#include "bitcycle/data/class_names.h"
#include "bitcycle/network/zoo.h"

#include "data/pictures/picture.h"
#include "data/subset.h"
#include "quant/finite_tensor.h"
#include "tasks/evaluation_mode.h"
#include "tasks/kept_count.h"

#include <algorithm>
#include <numeric>

namespace bitcycle {
namespace {

DatasetOptions dataset_options(const Recipe& recipe, Split split) {
  return {.name = recipe.data.dataset,
          .root = recipe.data.root,
          .split = split,
          .part = parse_part(recipe.data.part),
          .validation = recipe.data.validation,
          .test = recipe.data.test,
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

Augmentation recipe_augmentation(const DataRecipe& data) {
  return data.augment == DataRecipe::Augment::standard
             ? training_augmentation(data.dataset, data.image_size)
             : evaluation_augmentation(data.dataset, data.image_size);
}

Network fitting_network(const Recipe& recipe, const Dataset& dataset,
                        const Augmentation& augmentation) {
  return for_precision(make_network(recipe.model.name,
                                    {.classes = class_count(recipe, dataset),
                                     .input = output_shape(augmentation, dataset.image(0).shape)}),
                       recipe.precision);
}

BlockOptions block_options(const DynamicRecipe& recipe) {
  BlockOptions options{.form = recipe.form == DynamicRecipe::Form::chosen
                                   ? BlockOptions::Form::chosen
                                   : BlockOptions::Form::all_candidates};
  for (const PrecisionOption& option : recipe.options) {
    options.options.push_back({*recipe.weight, option.activation, option.error});
  }
  return options;
}

// Rows whose largest logit is at the label.
double count_correct(const at::Tensor& logits, const at::Tensor& labels) {
  return static_cast<double>(logits.argmax(1).eq(labels).sum().item<std::int64_t>());
}

LoaderOptions evaluation_order(const DataRecipe& data) {
  return {.batch_size = data.batch_size, .order = SampleOrder::sequential, .workers = data.workers};
}

// Over `count` batches, which are asked for in order.
template <typename BatchAt>
Score score_batches(NetworkModelImpl& model, std::int64_t count, BatchAt&& batch_at) {
  const EvaluationMode mode(model);
  double loss = 0, correct = 0;
  std::int64_t samples = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const TensorBatch batch = batch_at(i);
    const at::Tensor logits = model.forward(batch.images);
    loss += at::cross_entropy_loss(logits, batch.labels, {}, at::Reduction::Sum).item<double>();
    correct += count_correct(logits, batch.labels);
    samples += batch.labels.size(0);
  }
  const auto all = static_cast<double>(samples);
  return {.metrics = metrics_of(TaskKind::image_classification)
                         .measure({{"accuracy", correct, all}, {"loss", loss, all}}),
          .count = samples};
}

class KeptPictures : public KeptSamples {
 public:
  KeptPictures(NetworkModelImpl& model, std::vector<TensorBatch> batches, std::int64_t count)
      : model_(model), batches_(std::move(batches)), count_(count) {}

  std::int64_t count() const override { return count_; }
  Score score() override {
    return score_batches(model_, std::ssize(batches_),
                         [&](std::int64_t i) { return batches_[static_cast<std::size_t>(i)]; });
  }

 private:
  NetworkModelImpl& model_;
  std::vector<TensorBatch> batches_;
  std::int64_t count_;
};

// Datasets whose pictures all have the network's size do not say what becomes of others.
Augmentation for_any_size(Augmentation augmentation, const ImageShape& input) {
  if (augmentation.crop != Crop::none) return augmentation;
  augmentation.resize = augmentation.size = input.height;
  augmentation.crop = Crop::center;
  return augmentation;
}

Batch asked_batch(const Image& picture, const Augmentation& augmentation, const ImageShape& input) {
  Batch batch{input, std::vector<float>(static_cast<std::size_t>(input.elements())), {0}};
  augment(input.channels == 1 ? grey(picture) : picture, for_any_size(augmentation, input),
          RandomKey(0), batch.pixels);
  return batch;
}

// Pools have no name of their own; that of the layer before them tells where they are.
std::string title(const Network& network, const Node& node) {
  if (node.has_weights()) return node.name;
  const std::string kind = node.kind == NodeKind::max_pool ? "max pooling" : "average pooling";
  return node.input < 0 ? kind : kind + " behind " + title(network, network.nodes[node.input]);
}

}  // namespace

TensorBatch to_tensors(Batch batch, const at::Device& device) {
  const auto owner = std::make_shared<Batch>(std::move(batch));
  const ImageShape& shape = owner->shape;
  const at::Tensor images = at::from_blob(
      owner->pixels.data(), {owner->count(), shape.height, shape.width, shape.channels},
      [owner](void*) {}, at::kFloat);
  const at::Tensor labels = at::from_blob(
      owner->labels.data(), {owner->count()}, [owner](void*) {}, at::kLong);
  return {images.permute({0, 3, 1, 2}).to(device), labels.to(device)};
}

ImageClassification::ImageClassification(const Recipe& recipe, const at::Device& device)
    : ImageClassification(recipe, device,
                          open_training_sets(dataset_options(recipe, Split::train))) {}

ImageClassification::ImageClassification(const Recipe& recipe, const at::Device& device,
                                         TrainingSets training)
    : recipe_(recipe),
      device_(device),
      training_(std::move(training)),
      training_augmentation_(recipe_augmentation(recipe.data)),
      evaluation_augmentation_(
          evaluation_augmentation(recipe.data.dataset, recipe.data.image_size)),
      model_(fitting_network(recipe, *training_.train, training_augmentation_), recipe.seed) {
  if (recipe.precision.dynamic) model_->set_options(block_options(*recipe.precision.dynamic));
  model_->to(device_);
}

const TaskMetrics& ImageClassification::metrics() const {
  return metrics_of(TaskKind::image_classification);
}

std::int64_t ImageClassification::batches_per_epoch() const {
  return (training_.train->size() + recipe_.data.batch_size - 1) / recipe_.data.batch_size;
}

std::optional<double> ImageClassification::work_of_batches(std::int64_t count) const {
  const EpochWork epoch{.batches = batches_per_epoch(),
                        .whole = training_.train->size(),
                        .batch = recipe_.data.batch_size};
  return epoch.of_batches(count);
}

std::vector<std::string> ImageClassification::notices() const {
  std::vector<std::string> notices = training_.notices;
  const auto more = norm_notices(model_->network(), recipe_.data.batch_size);
  notices.insert(notices.end(), more.begin(), more.end());
  return notices;
}

RunTexts ImageClassification::descriptions() const {
  const std::vector<std::string> names = class_names(recipe_.data.dataset, recipe_.data.root);
  if (names.empty()) return {};
  return {{kClassNamesFile, class_names_text(names)}};
}

void ImageClassification::require_trainable() {
  split(Split::test);
  require_step_memory();
}

// A lower bound: weights and their gradients in float, activations as the integer scheme keeps
// them, in half precision. Simulation keeps several times as much.
void ImageClassification::require_step_memory() const {
  constexpr double kParameterBytes = 2 * sizeof(float);
  constexpr double kActivationBytes = 2;
  const Network& network = model_->network();
  const auto batch =
      static_cast<double>(std::min<std::int64_t>(recipe_.data.batch_size, training_.train->size()));
  const double least = static_cast<double>(network.parameters()) * kParameterBytes +
                       static_cast<double>(network.activations()) * batch * kActivationBytes;
  require_memory(static_cast<std::uint64_t>(least),
                 "a training step of " + recipe_.model.name +
                     " with data.batch_size = " + std::to_string(recipe_.data.batch_size),
                 "This is the least it takes. Lower data.batch_size or the size of the pictures, "
                 "or use a smaller network.");
}

std::string ImageClassification::data_fingerprint() {
  Fingerprint print;
  for (const Split which : {Split::train, Split::validation, Split::test}) {
    if (const auto dataset = split(which)) print.add(dataset->fingerprint());
  }
  return print.text();
}

std::shared_ptr<const Dataset> ImageClassification::split(Split which) {
  if (which == Split::train) return training_.train;
  if (which == Split::validation) return training_.validation;
  if (training_.test != nullptr) return training_.test;
  if (test_ == nullptr) test_ = open_dataset(dataset_options(recipe_, which));
  return test_;
}

void ImageClassification::start(std::int64_t first_batch) {
  batches_ = std::make_unique<Loader>(training_.train, training_augmentation_,
                                      LoaderOptions{.batch_size = recipe_.data.batch_size,
                                                    .seed = recipe_.seed,
                                                    .workers = recipe_.data.workers,
                                                    .first_step = first_batch});
}

TaskLoss ImageClassification::next_loss() {
  batch_ = to_tensors(batches_->next(), device_);
  const at::Tensor logits = model_->forward(batch_.images);
  const at::Tensor loss = at::cross_entropy_loss(logits, batch_.labels);
  const auto samples = static_cast<double>(batch_.labels.size(0));
  return {.loss = loss,
          .metrics = {{"loss", loss.item<double>(), 1.0},
                      {"accuracy", count_correct(logits, batch_.labels), samples}},
          .work = samples};
}

std::string ImageClassification::first_nonfinite_layer() {
  const torch::NoGradGuard no_grad;
  std::string first;
  model_->forward(batch_.images, [&](const Node& node, const at::Tensor& output) {
    if (first.empty() && !finite_tensor(output)) first = title(model_->network(), node);
  });
  return first;
}

Score ImageClassification::evaluate(Split which) {
  return evaluate_in_batches(which, [] {});
}

Score ImageClassification::evaluate_in_batches(Split which,
                                               const std::function<void()>& between_batches) {
  const auto dataset = split(which);
  Loader loader(dataset, evaluation_augmentation_, evaluation_order(recipe_.data));
  return score_batches(*model_, loader.steps_per_epoch(), [&](std::int64_t) {
    between_batches();
    return to_tensors(loader.next(), device_);
  });
}

std::vector<double> ImageClassification::ask(const Image& picture) {
  const EvaluationMode mode(*model_);
  const Batch batch = asked_batch(picture, evaluation_augmentation_, model_->network().input);
  const at::Tensor logits = model_->forward(to_tensors(batch, device_).images);
  const at::Tensor chances = logits.to(at::kCPU, at::kDouble).softmax(1).contiguous();
  return {chances.data_ptr<double>(), chances.data_ptr<double>() + chances.numel()};
}

void ImageClassification::require_room_for(std::int64_t samples) const {
  const ImageShape shape = output_shape(evaluation_augmentation_, training_.train->image(0).shape);
  const std::int64_t bytes = samples * shape.channels * shape.height * shape.width *
                             static_cast<std::int64_t>(sizeof(float));
  require_memory(static_cast<std::uint64_t>(bytes),
                 "keeping " + std::to_string(samples) + " pictures", "Take fewer samples.");
}

std::unique_ptr<KeptSamples> ImageClassification::keep_samples(std::int64_t count, RandomKey key) {
  const std::int64_t all = training_.train->size();
  const std::int64_t kept = kept_count(count, all, "samples");
  require_room_for(kept);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(all));
  std::iota(indices.begin(), indices.end(), 0);
  Loader loader(subset(training_.train, limited(std::move(indices), kept, key)),
                evaluation_augmentation_, evaluation_order(recipe_.data));
  std::vector<TensorBatch> batches;
  for (std::int64_t step = 0; step < loader.steps_per_epoch(); ++step) {
    batches.push_back(to_tensors(loader.next(), device_));
  }
  return std::make_unique<KeptPictures>(*model_, std::move(batches), kept);
}

}  // namespace bitcycle
