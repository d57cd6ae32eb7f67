#include "bitcycle/train/evaluate.h"

namespace bitcycle {

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

std::int64_t count_correct(const at::Tensor& logits, const at::Tensor& labels) {
  return logits.argmax(1).eq(labels).sum().item<std::int64_t>();
}

Score evaluate(NetworkModelImpl& model, std::shared_ptr<const Dataset> dataset,
               const Augmentation& augmentation, std::int64_t batch_size, int workers,
               const at::Device& device) {
  const torch::NoGradGuard no_grad;
  const bool was_training = model.is_training();
  model.eval();
  Score score{0, 0, dataset->size()};
  Loader loader(std::move(dataset), augmentation,
                {.batch_size = batch_size, .order = SampleOrder::sequential, .workers = workers});
  double loss = 0;
  std::int64_t correct = 0;
  for (std::int64_t step = 0; step < loader.steps_per_epoch(); ++step) {
    const TensorBatch batch = to_tensors(loader.next(), device);
    const at::Tensor logits = model.forward(batch.images);
    loss += at::cross_entropy_loss(logits, batch.labels, {}, at::Reduction::Sum).item<double>();
    correct += count_correct(logits, batch.labels);
  }
  model.train(was_training);
  const auto samples = static_cast<double>(score.samples);
  score.loss = loss / samples;
  score.accuracy = 100.0 * static_cast<double>(correct) / samples;
  return score;
}

}  // namespace bitcycle
