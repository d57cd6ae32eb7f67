#include "bitcycle/train/step_bench.h"

#include "bitcycle/base/random.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/models/float_reference.h"
#include "bitcycle/models/network_model.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/tasks/image_classification.h"
#include "bitcycle/train/caching_allocator.h"
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
  MeasuredStep measured() const { return {summarise(milliseconds_), milliseconds_, bytes_}; }

 private:
  std::function<void()> step_;
  std::vector<double> milliseconds_;
  std::int64_t bytes_ = 0;
};

// Steps of one model, each at bits of its own.
std::vector<TimedStep> bitcycle_steps(const Network& network, const StepBenchOptions& options,
                                      const TensorBatch& batch) {
  auto model = NetworkModel(network, /*seed=*/1);
  model->set_executor(executor_of(options.backend, PrecisionRecipe::Scheme::sbm));
  model->train();
  auto optimizer = std::make_shared<Optimizer>(
      *model,
      OptimizerRecipe{.lr = kLearningRate, .momentum = kMomentum, .weight_decay = kWeightDecay});
  auto step = std::make_shared<Step>(0);
  std::vector<TimedStep> steps;
  for (const LayerBits& bits : options.bits) {
    const PrecisionPlan plan(static_precision(bits), layers_of(network), {1, 1});
    auto controller = std::make_shared<PrecisionController>(*model, plan.layers(), /*seed=*/1);
    steps.emplace_back([=, bits = plan.decide(0)]() mutable {
      controller->apply(bits, *step);
      optimizer->zero_grad();
      at::cross_entropy_loss(model->forward(batch.images), batch.labels).backward();
      optimizer->step(kLearningRate, (*step)++);
    });
  }
  return steps;
}

TimedStep reference_step(FloatReference model, const TensorBatch& batch) {
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

TimedStep authors_step(const Network& network, LayerBits bits, TensorBatch batch) {
  batch.images = batch.images.contiguous();  // LibTorch's default layout, as theirs
  return reference_step(FloatReference(network, bits), batch);
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

StepBench bench_steps(const Network& network, const StepBenchOptions& options) {
  use_caching_allocator();
  const TensorBatch batch = random_batch(network, options.batch);
  std::vector<TimedStep> steps = bitcycle_steps(network, options, batch);
  steps.push_back(reference_step(FloatReference(network), batch));
  if (options.authors) steps.push_back(authors_step(network, *options.authors, batch));
  const auto take_turns = [&](int times) {
    for (int i = 0; i < times; ++i) {
      for (TimedStep& step : steps) step.run();
    }
  };
  take_turns(options.warmup);
  for (TimedStep& step : steps) step.forget();
  take_turns(options.repeats);
  StepBench result;
  if (options.authors) {
    result.authors_step = steps.back().measured();
    steps.pop_back();
  }
  result.float_step = steps.back().measured();
  steps.pop_back();
  for (const TimedStep& step : steps) result.steps.push_back(step.measured());
  return result;
}

}  // namespace bitcycle
