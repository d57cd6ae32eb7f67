#include "bitcycle/train/step_bench.h"

#include "bitcycle/base/random.h"
#include "bitcycle/models/float_reference.h"
#include "bitcycle/models/network_model.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/train/caching_allocator.h"
#include "bitcycle/train/evaluate.h"
#include "bitcycle/train/optimizer.h"
#include "bitcycle/train/session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include <torch/optim/sgd.h>

namespace bitcycle {
namespace {

constexpr double kLearningRate = 0.01;  // small, so that random labels never make a step diverge
constexpr double kMomentum = 0.9;
constexpr double kWeightDecay = 1e-4;

TensorBatch random_batch(const Network& network, std::int64_t count) {
  const RandomKey key(1);
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

// A step of something that trains, timed; knows the memory it needs beyond what it keeps.
class TimedStep {
 public:
  explicit TimedStep(std::function<void()> step) : step_(std::move(step)) {}

  void run() {
    reset_peak_memory();
    const std::int64_t kept = tensor_memory().in_use;
    const auto start = std::chrono::steady_clock::now();
    step_();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    milliseconds_.push_back(taken.count());
    bytes_ = tensor_memory().peak - kept;
  }
  void forget() { milliseconds_.clear(); }
  Timing timing() const { return summarise(milliseconds_); }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::function<void()> step_;
  std::vector<double> milliseconds_;
  std::int64_t bytes_ = 0;
};

TimedStep bitcycle_step(const Network& network, const StepBenchOptions& options,
                        const TensorBatch& batch) {
  auto model = NetworkModel(network, /*seed=*/1);
  model->set_executor(executor_of(options.backend));
  model->train();
  auto controller = std::make_shared<PrecisionController>(
      *model, PrecisionPlan(static_precision(options.bits), planned_layers(network), {1, 1}),
      /*seed=*/1);
  auto optimizer = std::make_shared<Optimizer>(
      *model,
      OptimizerRecipe{.lr = kLearningRate, .momentum = kMomentum, .weight_decay = kWeightDecay});
  return TimedStep([=, step = Step{0}]() mutable {
    controller->apply(step);
    optimizer->zero_grad();
    at::cross_entropy_loss(model->forward(batch.images), batch.labels).backward();
    optimizer->step(kLearningRate, step++);
  });
}

TimedStep float_step(const Network& network, const TensorBatch& batch) {
  auto model = FloatReference(network);
  model->train();
  const auto options =
      torch::optim::SGDOptions(kLearningRate).momentum(kMomentum).weight_decay(kWeightDecay);
  auto optimizer = std::make_shared<torch::optim::SGD>(model->parameters(), options);
  return TimedStep([=]() mutable {
    optimizer->zero_grad();
    at::cross_entropy_loss(model->forward(batch.images), batch.labels).backward();
    optimizer->step();
  });
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace

PrecisionRecipe static_precision(LayerBits bits) {
  const auto width = [](int b) { return ScheduleSpec{.min = b, .max = b}; };
  PrecisionRecipe recipe;
  recipe.weight = width(bits.weight);
  recipe.activation = width(bits.activation);
  recipe.backward = width(bits.error);
  return recipe;
}

Timing summarise(std::vector<double> milliseconds) {
  const double middle = median(milliseconds);
  for (double& value : milliseconds) value = std::abs(value - middle);
  return {middle, median(std::move(milliseconds))};
}

StepBench bench_step(const Network& network, const StepBenchOptions& options) {
  use_caching_allocator();
  const TensorBatch batch = random_batch(network, options.batch);
  TimedStep ours = bitcycle_step(network, options, batch);
  TimedStep theirs = float_step(network, batch);
  const auto take_turns = [&](int times) {
    for (int i = 0; i < times; ++i) {
      ours.run();
      theirs.run();
    }
  };
  take_turns(options.warmup);
  ours.forget();
  theirs.forget();
  take_turns(options.repeats);
  return {ours.timing(), theirs.timing(), ours.bytes(), theirs.bytes()};
}

}  // namespace bitcycle
