#include "bitcycle/train/dynamic_bench.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/backend.h"
#include "bitcycle/models/network_model.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/train/gate_term.h"

#include "train/timed_step.h"

#include <functional>
#include <numeric>

namespace bitcycle {
namespace {

constexpr std::uint64_t kBenchSeed = 1;

// One of the options, each as often as its weight says.
int drawn(const std::vector<double>& weights, double uniform) {
  double left = uniform * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return static_cast<int>(i);
  }
  return static_cast<int>(weights.size()) - 1;
}

ForcedChoice draw_choices(ChoiceCounts weights) {
  return [weights = std::move(weights), call = std::uint64_t{0}](std::size_t block,
                                                                 std::int64_t samples) mutable {
    const RandomKey key = RandomKey(kBenchSeed).derive("choices").derive(call++);
    std::vector<int> chosen;
    for (std::int64_t n = 0; n < samples; ++n) {
      chosen.push_back(drawn(weights[block], key.uniform(static_cast<std::uint64_t>(n))));
    }
    return chosen;
  };
}

// A gated network in training.
class GatedSubject {
 public:
  GatedSubject(const DynamicBenchOptions& options, const DynamicRecipe& dynamic)
      : network_(gated(make_network(options.model), static_cast<int>(dynamic.options.size()))),
        batch_(bench_pictures(network_, options.batch)),
        policy_(precision_of(dynamic), layers_of(network_), {1, 1}),
        model_(network_, kBenchSeed),
        controller_(*model_, policy_.layers(), kBenchSeed),
        optimizer_(*model_, kBenchOptimizer),
        term_(*model_->gates(), policy_) {
    BlockOptions blocks;
    for (const PrecisionOption& option : policy_.options()) {
      blocks.options.push_back(policy_.bits_of(option));
    }
    model_->set_options(blocks);
    require_execution();
    set_executor(*model_, Executor::integer);
    model_->train();
  }

  std::size_t blocks() const { return network_.blocks.size(); }
  void step(const ForcedChoice& choice) {
    model_->gates()->force(choice);
    controller_.apply(policy_.decide(0), step_);
    optimizer_.zero_grad();
    TaskLoss result{.loss = at::cross_entropy_loss(model_->forward(batch_.images), batch_.labels),
                    .metrics = {},
                    .work = static_cast<double>(batch_.labels.size(0))};
    term_.add_to(result, 0);
    result.loss.backward();
    optimizer_.step(kBenchOptimizer.lr, step_++);
  }

 private:
  static PrecisionRecipe precision_of(const DynamicRecipe& dynamic) {
    PrecisionRecipe recipe;
    recipe.dynamic = dynamic;
    return recipe;
  }
  void require_execution() const {
    choose_backend({.backend = Backend::integer, .scheme = SchemeName::integer}, policy_);
  }

  Network network_;
  TensorBatch batch_;
  DynamicPolicy policy_;
  NetworkModel model_;
  PrecisionController controller_;
  Optimizer optimizer_;
  GateTerm term_;
  Step step_ = 0;
};

TimedStep dynamic_step(const DynamicBenchOptions& options) {
  auto subject = std::make_shared<GatedSubject>(options, options.precision);
  ChoiceCounts weights = options.choices;
  if (weights.empty()) {
    weights.assign(subject->blocks(), std::vector<double>(options.precision.options.size(), 1.0));
  }
  if (weights.size() != subject->blocks()) {
    throw Error(ErrorCode::usage, "the choices are those of " + std::to_string(weights.size()) +
                                      " blocks, but " + options.model + " has " +
                                      std::to_string(subject->blocks()));
  }
  return TimedStep([subject, choice = draw_choices(weights)] { subject->step(choice); });
}

// Steps of one network with a further option, to skip the block; the others equally often.
std::vector<TimedStep> skipping_steps(const DynamicBenchOptions& options) {
  std::vector<TimedStep> steps;
  if (options.skipped.empty()) return steps;
  DynamicRecipe precision = options.precision;
  std::erase_if(precision.options, std::mem_fn(&PrecisionOption::skips));
  const std::size_t computed = precision.options.size();
  precision.options.push_back({0, 0});
  auto subject = std::make_shared<GatedSubject>(options, precision);
  for (const double share : options.skipped) {
    std::vector<double> weights(computed, (1 - share) / static_cast<double>(computed));
    weights.push_back(share);
    const auto choice = draw_choices(ChoiceCounts(subject->blocks(), weights));
    steps.emplace_back([subject, choice] { subject->step(choice); });
  }
  return steps;
}

TimedStep static_step(const DynamicBenchOptions& options) {
  const BenchSubject subject = bench_subject(options.model, options.batch);
  set_executor(*subject.ours.module, Executor::integer);
  subject.ours.module->train();
  const PrecisionPlan plan(static_precision(options.static_bits), subject.layers, {1, 1});
  auto controller =
      std::make_shared<PrecisionController>(*subject.ours.module, plan.layers(), kBenchSeed);
  auto optimizer = std::make_shared<Optimizer>(*subject.ours.module, kBenchOptimizer);
  return TimedStep([=, ours = subject.ours, bits = plan.decide(0), step = Step{0}]() mutable {
    controller->apply(bits, step);
    optimizer->zero_grad();
    ours.loss().backward();
    optimizer->step(kBenchOptimizer.lr, step++);
  });
}

}  // namespace

DynamicBench bench_dynamic(const DynamicBenchOptions& options) {
  std::vector<TimedStep> steps = skipping_steps(options);
  steps.push_back(dynamic_step(options));
  steps.push_back(static_step(options));
  take_turns(steps, options.warmup, options.repeats);
  DynamicBench result;
  result.static_step = steps.back().measured();
  steps.pop_back();
  result.dynamic = steps.back().measured();
  steps.pop_back();
  for (const TimedStep& step : steps) result.skipping.push_back(step.measured());
  return result;
}

}  // namespace bitcycle
