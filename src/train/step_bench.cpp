#include "bitcycle/train/step_bench.h"

#include "bitcycle/config/precision_plan.h"
#include "bitcycle/events/layers_file.h"
#include "bitcycle/events/tensorboard_file.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/models/step_keys.h"

#include "train/timed_step.h"

#include <array>
#include <cstdlib>
#include <filesystem>

#include <torch/optim/sgd.h>

namespace bitcycle {
namespace {

// Removed with everything in it.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "bitcycle-bench-XXXXXX").string();
    TORCH_CHECK(::mkdtemp(name.data()) != nullptr, "cannot create ", name);
    path_ = name;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The files into which a run writes what it sees of its layers.
class LookFiles {
 public:
  LookFiles() : layers_(directory_.path()), tensorboard_(directory_.path()) {
    for (EventSink* sink : sinks()) sink->begin({}, 0);
  }
  void write(const LayerReport& report) {
    for (EventSink* sink : sinks()) sink->layers(report);
  }

 private:
  std::array<EventSink*, 2> sinks() { return {&layers_, &tensorboard_}; }

  ScratchDirectory directory_;
  LayersFile layers_;
  TensorBoardFile tensorboard_;
};

// Steps of one model, each at bits of its own; last, if wanted, one that is looked at.
std::vector<TimedStep> bitcycle_steps(const BenchSubject& subject,
                                      const StepBenchOptions& options) {
  torch::nn::Module& model = *subject.ours.module;
  set_executor(model, options.backend == Backend::integer ? Executor::integer : Executor::simulate);
  model.train();
  auto optimizer = std::make_shared<Optimizer>(model, kBenchOptimizer);
  auto keys = std::make_shared<StepKeys>(model, /*seed=*/1);
  auto step = std::make_shared<Step>(0);
  std::vector<TimedStep> steps;
  const auto add_step = [&](LayerBits bits, std::shared_ptr<LookFiles> files) {
    const PrecisionPlan plan(static_precision(bits), subject.layers, {1, 1});
    auto controller = std::make_shared<PrecisionController>(model, plan.layers(), /*seed=*/1);
    steps.emplace_back([=, loss = subject.ours.loss, bits = plan.decide(0)] {
      controller->apply(bits, *step);
      if (files) controller->begin_look();
      keys->apply(*step);
      optimizer->zero_grad();
      loss().backward();
      optimizer->step(kBenchOptimizer.lr, (*step)++);
      if (files) files->write({.step = *step, .number = *step, .layers = controller->end_look()});
    });
  };
  for (const LayerBits& bits : options.bits) add_step(bits, nullptr);
  if (options.statistics) add_step(options.bits.front(), std::make_shared<LookFiles>());
  return steps;
}

TimedStep reference_step(const BenchNet& net) {
  net.module->train();
  const auto options = torch::optim::SGDOptions(kBenchOptimizer.lr)
                           .momentum(kBenchOptimizer.momentum)
                           .weight_decay(kBenchOptimizer.weight_decay);
  auto optimizer = std::make_shared<torch::optim::SGD>(net.module->parameters(), options);
  return TimedStep([=] {
    optimizer->zero_grad();
    net.loss().backward();
    optimizer->step();
  });
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

StepBench bench_steps(const BenchSubject& subject, const StepBenchOptions& options) {
  std::vector<TimedStep> steps = bitcycle_steps(subject, options);
  steps.push_back(reference_step(subject.reference));
  if (options.authors) steps.push_back(reference_step(subject.authors(*options.authors)));
  take_turns(steps, options.warmup, options.repeats);
  StepBench result;
  if (options.authors) {
    result.authors_step = steps.back().measured();
    steps.pop_back();
  }
  result.float_step = steps.back().measured();
  steps.pop_back();
  if (options.statistics) {
    result.looked_step = steps.back().measured();
    steps.pop_back();
  }
  for (const TimedStep& step : steps) result.steps.push_back(step.measured());
  return result;
}

}  // namespace bitcycle
