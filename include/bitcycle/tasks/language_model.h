#pragma once

// To predict the next token of a text: cross-entropy in nats, and perplexity as what counts. Word
// by word or byte by byte, by an LSTM that carries its state from batch to batch or by a
// Transformer on windows.

#include "bitcycle/tasks/task.h"

namespace bitcycle {

class LanguageModel : public Task {
 public:
  // The vocabulary is that of `stored` (vocabulary.txt of a run), else made from the training text.
  LanguageModel(const Recipe& recipe, const at::Device& device, const RunTexts& stored);
  ~LanguageModel() override;

  const TaskMetrics& metrics() const override;
  torch::nn::Module& model() override;
  std::vector<LayerInfo> layers() const override;

  std::int64_t batches_per_epoch() const override;
  std::optional<double> work_of_batches(std::int64_t count) const override;
  void require_trainable() override;
  std::string data_fingerprint() override;
  RunTexts texts() const override;

  void start(std::int64_t first_batch) override;
  TaskLoss next_loss() override;
  std::string first_nonfinite_layer() override;
  Score evaluate(Split split) override;
  Score evaluate_in_batches(Split split, const std::function<void()>& between_batches) override;
  std::unique_ptr<KeptSamples> keep_samples(std::int64_t count, RandomKey key) override;
  NamedTensors state() const override;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace bitcycle
