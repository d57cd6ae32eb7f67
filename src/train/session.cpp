#include "bitcycle/train/session.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/make_policy.h"
#include "bitcycle/quant/schemes.h"

#include "train/run_files.h"

#include <algorithm>
#include <cmath>

#include <omp.h>
#include <torch/cuda.h>

namespace bitcycle {
namespace {

at::Device parse_device(const std::string& name) {
  try {
    return at::Device(name);
  } catch (const c10::Error&) {
    throw Error(ErrorCode::recipe, "device = \"" + name + "\" is no device that LibTorch knows",
                "Use \"cpu\", \"cuda\" or \"cuda:N\".");
  }
}

at::Device open_device(const std::string& name) {
  const at::Device device = parse_device(name);
  if (device.is_cuda() && !torch::cuda::is_available()) {
    throw Error(ErrorCode::recipe, "device = \"" + name + "\", but this LibTorch finds no CUDA GPU",
                "Use device = \"cpu\".");
  }
  return device;
}

Executor executor_of(const BackendChoice& choice) {
  if (choice.backend == Backend::integer) return Executor::integer;
  return has_kernels(choice.scheme) ? Executor::oracle : Executor::simulate;
}

GatesImpl* gates_of(const torch::nn::Module& model) {
  for (const auto& module : model.modules(/*include_self=*/false)) {
    if (auto* gates = dynamic_cast<GatesImpl*>(module.get())) return gates;
  }
  return nullptr;
}

Step total_steps(const Recipe& recipe, Step steps_per_epoch) {
  if (recipe.steps > 0) return recipe.steps;
  return std::max<Step>(1, std::llround(recipe.epochs * static_cast<double>(steps_per_epoch)));
}

}  // namespace

Session::Session(const Recipe& recipe, const std::filesystem::path& run_directory)
    : recipe_(recipe) {
  at::set_num_threads(recipe.threads > 0 ? recipe.threads : omp_get_max_threads());
  task_ = open_task(recipe, open_device(recipe.device), stored_texts(run_directory));
  const std::int64_t batches = recipe.optimizer.accumulate;
  const Step per_epoch = (task_->batches_per_epoch() + batches - 1) / batches;
  length_ = {total_steps(recipe, per_epoch), per_epoch};
  policy_ = make_policy(recipe.precision, task_->layers(), length_);
  backend_ = choose_backend({.backend = recipe.precision.backend,
                             .scheme = recipe.precision.scheme,
                             .device = recipe.device},
                            *policy_);
  set_scheme(task_->model(), scheme_of(backend_.scheme), executor_of(backend_));
  controller_ =
      std::make_unique<PrecisionController>(task_->model(), policy_->layers(), recipe.seed);
  controller_->set_range_start(recipe.precision.range_start);
  keys_ = std::make_unique<StepKeys>(task_->model(), recipe.seed);
  gates_ = gates_of(task_->model());
  const auto* dynamic = dynamic_cast<const DynamicPolicy*>(policy_.get());
  if (gates_ != nullptr && dynamic != nullptr) {
    gate_term_ = std::make_unique<GateTerm>(*gates_, *dynamic);
  }
}

StepBits Session::apply(Step step) {
  StepBits bits = policy_->decide(step);
  if (gates_ != nullptr) gates_->set_bypassed(false);
  controller_->apply(bits, step);
  keys_->apply(step);
  return bits;
}

void Session::add_gate_term(TaskLoss& loss, Step step) {
  if (gate_term_ != nullptr) gate_term_->add_to(loss, step);
}

ChoiceCounts Session::take_choices() {
  return gate_term_ == nullptr ? ChoiceCounts{} : gate_term_->take_counts();
}

// Where all layers are to have certain bits, gates are not asked.
Score Session::score(Split split, const EvaluationBits& bits, Step step) {
  using Kind = EvaluationBits::Kind;
  if (gates_ != nullptr) {
    gates_->set_bypassed(bits.kind == Kind::full || bits.kind == Kind::fixed);
  }
  controller_->apply(policy_->evaluation(bits, step), step);
  return task_->evaluate(split);
}

}  // namespace bitcycle
