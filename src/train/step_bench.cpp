#include "bitcycle/train/step_bench.h"

#include "bitcycle/config/precision_plan.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/models/step_keys.h"
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
std::vector<TimedStep> bitcycle_steps(const BenchSubject& subject,
                                      const StepBenchOptions& options) {
  torch::nn::Module& model = *subject.ours.module;
  set_executor(model, options.backend == Backend::integer ? Executor::integer : Executor::simulate);
  model.train();
  auto optimizer = std::make_shared<Optimizer>(
      model,
      OptimizerRecipe{.lr = kLearningRate, .momentum = kMomentum, .weight_decay = kWeightDecay});
  auto keys = std::make_shared<StepKeys>(model, /*seed=*/1);
  auto step = std::make_shared<Step>(0);
  std::vector<TimedStep> steps;
  for (const LayerBits& bits : options.bits) {
    const PrecisionPlan plan(static_precision(bits), subject.layers, {1, 1});
    auto controller = std::make_shared<PrecisionController>(model, plan.layers(), /*seed=*/1);
    steps.emplace_back([=, loss = subject.ours.loss, bits = plan.decide(0)] {
      controller->apply(bits, *step);
      keys->apply(*step);
      optimizer->zero_grad();
      loss().backward();
      optimizer->step(kLearningRate, (*step)++);
    });
  }
  return steps;
}

TimedStep reference_step(const BenchNet& net) {
  net.module->train();
  const auto options =
      torch::optim::SGDOptions(kLearningRate).momentum(kMomentum).weight_decay(kWeightDecay);
  auto optimizer = std::make_shared<torch::optim::SGD>(net.module->parameters(), options);
  return TimedStep([=] {
    optimizer->zero_grad();
    net.loss().backward();
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

StepBench bench_steps(const BenchSubject& subject, const StepBenchOptions& options) {
  std::vector<TimedStep> steps = bitcycle_steps(subject, options);
  steps.push_back(reference_step(subject.reference));
  if (options.authors) steps.push_back(reference_step(subject.authors(*options.authors)));
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
