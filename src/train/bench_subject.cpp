#include "bitcycle/train/bench_subject.h"

#include "bitcycle/base/random.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/models/float_reference.h"
#include "bitcycle/models/language/float_language.h"
#include "bitcycle/network/language_model_kind.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/tasks/image_classification.h"

#include "tasks/language_net.h"

#include <utility>

namespace bitcycle {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::int64_t kPictures = 128, kColumns = 20, kWindows = 4;

// Of a model that reads pictures and gives scores.
template <typename Model>
BenchNet classifying(Model model, const TensorBatch& batch) {
  return {model.ptr(), [model, batch]() mutable {
            return at::cross_entropy_loss(model->forward(batch.images), batch.labels);
          }};
}

BenchSubject pictures_subject(const std::string& name, std::int64_t count) {
  const Network network = make_network(name);
  const TensorBatch batch = bench_pictures(network, count);
  NetworkModel model(network, kSeed);
  BenchSubject subject{.layers = layers_of(network),
                       .batch = count,
                       .work = static_cast<double>(count),
                       .ours = classifying(model, batch),
                       .reference = classifying(FloatReference(network), batch)};
  // In LibTorch's default layout, as theirs.
  subject.authors = [network, batch](LayerBits bits) {
    return classifying(FloatReference(network, bits),
                       TensorBatch{batch.images.contiguous(), batch.labels});
  };
  return subject;
}

TokenBatch random_tokens(std::int64_t rows, std::int64_t columns, std::int64_t words) {
  const RandomKey key(kSeed);
  TokenBatch batch{.rows = rows, .columns = columns, .scored = rows * columns};
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    batch.inputs.push_back(static_cast<std::int64_t>(key.derive("input").below(i, words)));
    batch.targets.push_back(static_cast<std::int64_t>(key.derive("target").below(i, words)));
  }
  return batch;
}

// Of a model that gives the loss of tokens and targets.
template <typename Model>
BenchNet predicting(Model model, const TokenBatch& batch) {
  const auto tensor = [&](const std::vector<std::int64_t>& values) {
    return at::tensor(values, at::kLong).view({batch.rows, batch.columns});
  };
  return {model.ptr(),
          [model, inputs = tensor(batch.inputs), targets = tensor(batch.targets)]() mutable {
            return model->loss(inputs, targets);
          }};
}

BenchSubject language_subject(const std::string& name, std::optional<std::int64_t> wanted) {
  const bool lstm = language_model_kind(name) == LanguageModelKind::lstm;
  Recipe recipe{.seed = kSeed};
  recipe.model.name = name;
  recipe.data.batch_size = static_cast<int>(wanted.value_or(lstm ? kColumns : kWindows));
  const std::int64_t count = recipe.data.batch_size, window = window_of(recipe);
  const std::int64_t words = usual_vocabulary(name);
  const TokenBatch batch =
      lstm ? random_tokens(window, count, words) : random_tokens(count, window, words);
  std::shared_ptr<LanguageNet> net = make_language_net(recipe, words, at::kCPU);
  const std::shared_ptr<torch::nn::Module> module(net, &net->module());
  return {
      .layers = net->layers(),
      .batch = count,
      .work = static_cast<double>(batch.scored),
      .ours = {module, [net, batch] { return net->loss(batch, TextUse::training); }},
      .reference =
          lstm ? predicting(FloatLstmLm(lstm_options(recipe.model, words)), batch)
               : predicting(FloatTransformerLm(transformer_options(recipe.model, words)), batch)};
}

}  // namespace

TensorBatch bench_pictures(const Network& network, std::int64_t count) {
  const RandomKey key(kSeed);
  Batch batch{network.input, std::vector<float>(count * network.input.elements()), {}};
  for (std::size_t i = 0; i < batch.pixels.size(); ++i) {
    batch.pixels[i] = static_cast<float>(key.normal(i));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    batch.labels.push_back(
        static_cast<std::int64_t>(key.derive("label").below(i, network.classes)));
  }
  return to_tensors(std::move(batch), at::kCPU);
}

double BenchSubject::step_macs() const {
  double macs = 0;
  for (const LayerInfo& layer : layers) macs += static_cast<double>(layer.macs);
  return 3 * macs * work;
}

BenchSubject bench_subject(const std::string& model, std::optional<std::int64_t> batch) {
  return task_of(model) == TaskKind::language_model
             ? language_subject(model, batch)
             : pictures_subject(model, batch.value_or(kPictures));
}

}  // namespace bitcycle
