#pragma once

// What a model is trained for: a task owns the data and the model that fits them, makes batches,
// knows the loss, and scores the model. The trainer knows tasks by this interface alone.

#include "bitcycle/base/random.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/data/split.h"
#include "bitcycle/events/metric.h"
#include "bitcycle/network/layer_info.h"
#include "bitcycle/quant/named_tensors.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

// What a batch gave.
struct TaskLoss {
  at::Tensor loss;  // to be differentiated
  MetricSums metrics;
  double work = 0;  // in the units of which LayerInfo counts the multiply-accumulates
};

// A part of the training set, prepared once and kept in memory, to be scored at many weights.
class KeptSamples {
 public:
  virtual ~KeptSamples() = default;
  virtual std::int64_t count() const = 0;
  virtual std::string unit() const { return "samples"; }  // of count()
  // As Task::evaluate does it.
  virtual Score score() = 0;
};

// Texts that belong to a run and are stored in its directory, by file name.
using RunTexts = std::map<std::string, std::string>;

class Task {
 public:
  virtual ~Task() = default;

  virtual const TaskMetrics& metrics() const = 0;
  virtual torch::nn::Module& model() = 0;
  // The model's layers, as precision, cost and backend see them.
  virtual std::vector<LayerInfo> layers() const = 0;

  virtual std::int64_t batches_per_epoch() const = 0;
  // The work of so many training batches from the first on, of which the last of an epoch may be
  // smaller than the others; nothing where the task does not know it beforehand.
  virtual std::optional<double> work_of_batches(std::int64_t) const { return std::nullopt; }
  // Throws what would end a training run later: Error(data) when there is nothing to test on,
  // Error(memory) when a step cannot fit.
  virtual void require_trainable() = 0;
  // Changes when the data of any split do.
  virtual std::string data_fingerprint() = 0;
  // What is worth telling of the data before a run starts; a line each.
  virtual std::vector<std::string> notices() const { return {}; }
  // What must be stored with the run, lest it be made anew and otherwise.
  virtual RunTexts texts() const { return {}; }
  // What is stored with the run for people and other programs; a run goes on without it.
  virtual RunTexts descriptions() const { return {}; }

  // Training batches come from this one on, counted over all epochs.
  virtual void start(std::int64_t first_batch) = 0;
  // The loss of the next batch, with the graph to differentiate it.
  virtual TaskLoss next_loss() = 0;
  // The first layer whose output for that batch holds a value that is not finite, "" if none does.
  // Call it only when the run is lost: it may change running statistics.
  virtual std::string first_nonfinite_layer() = 0;

  // Scores the model, at whatever precision its layers are set to; changes nothing. The validation
  // split must not be empty.
  virtual Score evaluate(Split split) = 0;
  // Likewise; `between_batches` is called there, and may throw to cut it short. Of a task that does
  // not know when, it is not called.
  virtual Score evaluate_in_batches(Split split, const std::function<void()>& between_batches);
  // `count` samples of the training set (of a text, tokens) that are drawn by `key`, without
  // augmentation and in a fixed order; 0: all. They refer to the task. Throws Error(usage) where
  // there are fewer, or where the task has no such samples; Error(memory) where they do not fit.
  virtual std::unique_ptr<KeptSamples> keep_samples(std::int64_t count, RandomKey key);

  // What the task carries from batch to batch; it shares memory with the task, so writing restores
  // it.
  virtual NamedTensors state() const { return {}; }
};

// The task that a recipe's model is for, with the texts that are stored with its run, if there is
// one. Throws Error(data) when the data are missing or damaged, Error(recipe) when the recipe does
// not fit them.
std::unique_ptr<Task> open_task(const Recipe& recipe, const at::Device& device,
                                const RunTexts& stored = {});

}  // namespace bitcycle
