#include "bitcycle/train/session.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/make_policy.h"
#include "bitcycle/quant/schemes.h"
#include "bitcycle/train/threads.h"

#include "train/quantized_update.h"
#include "train/run_files.h"

#include <algorithm>
#include <cmath>

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

// A scheme of one's own is simulated unless the recipe insists, and then set_scheme complains.
BackendChoice choose_backend(const Recipe& recipe, const RunParts& parts,
                             const PrecisionPolicy& policy) {
  const PrecisionRecipe& precision = recipe.precision;
  BackendRequest request{
      .backend = precision.backend, .scheme = precision.scheme, .device = recipe.device};
  if (parts.scheme && parts.scheme->kernels == Scheme::Kernels::none &&
      precision.backend == Backend::automatic) {
    request.backend = Backend::simulate;
  }
  return choose_backend(request, policy);
}

Executor executor_of(const BackendChoice& choice, const Scheme& scheme) {
  if (choice.backend == Backend::integer) return Executor::integer;
  return scheme.kernels == Scheme::Kernels::none ? Executor::simulate : Executor::oracle;
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

Session::Session(const Recipe& recipe, const std::filesystem::path& run_directory,
                 const RunParts& parts)
    : recipe_(recipe) {
  use_threads(recipe.threads);
  task_ = parts.task(recipe, open_device(recipe.device), stored_texts(run_directory));
  const std::int64_t batches = recipe.optimizer.accumulate;
  const Step per_epoch = (task_->batches_per_epoch() + batches - 1) / batches;
  length_ = {total_steps(recipe, per_epoch), per_epoch};
  policy_ = parts.policy(recipe.precision, task_->layers(), length_);
  backend_ = choose_backend(recipe, parts, *policy_);
  scheme_ = parts.scheme ? *parts.scheme : scheme_of(backend_.scheme);
  set_scheme(task_->model(), scheme_, executor_of(backend_, scheme_));
  quantize_start(task_->model(), scheme_.update, *policy_);
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
void Session::apply_evaluation(const EvaluationBits& bits, Step step) {
  using Kind = EvaluationBits::Kind;
  if (gates_ != nullptr) {
    gates_->set_bypassed(bits.kind == Kind::full || bits.kind == Kind::fixed);
  }
  controller_->apply(policy_->evaluation(bits, step), step);
}

// Nobody needs errors, so they keep no layer from what it executes in evaluations.
void Session::apply_evaluation_in_training(const EvaluationBits& bits, Step step, Step number) {
  StepBits decided = policy_->evaluation(bits, step);
  for (LayerBits& layer : decided.layers) layer = executed_bits(layer, /*training=*/false);
  controller_->apply(decided, number);
  keys_->apply(number);
}

Score Session::score(Split split, const EvaluationBits& bits, Step step,
                     const std::function<void()>& between_batches) {
  between_batches();
  apply_evaluation(bits, step);
  return task_->evaluate_in_batches(split, between_batches);
}

}  // namespace bitcycle
