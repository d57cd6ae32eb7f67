#pragma once

// What a recipe stands for, opened: the task with its data and model, and who decides the precision
// of every layer. Training and evaluation both start from here.

#include "bitcycle/config/backend.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/models/step_keys.h"
#include "bitcycle/quant/scheme.h"
#include "bitcycle/tasks/task.h"
#include "bitcycle/train/gate_term.h"
#include "bitcycle/train/run_parts.h"

#include <filesystem>
#include <functional>
#include <memory>

namespace bitcycle {

class Session {
 public:
  // `run_directory` holds what was stored with the run, if it has begun. Throws what open_task
  // throws.
  explicit Session(const Recipe& recipe, const std::filesystem::path& run_directory = {},
                   const RunParts& parts = {});

  const Recipe& recipe() const { return recipe_; }
  const RunLength& length() const { return length_; }
  // What carries out the recipe's precision, and what there is to say about it.
  const BackendChoice& backend() const { return backend_; }
  const Scheme& scheme() const { return scheme_; }
  Task& task() { return *task_; }
  const Task& task() const { return *task_; }
  torch::nn::Module& model() { return task_->model(); }
  PrecisionPolicy& policy() { return *policy_; }
  const PrecisionPolicy& policy() const { return *policy_; }

  // Tells the layers the bits of a training step, and returns them.
  StepBits apply(Step step);
  // Adds to the loss of a batch what the choices of the model's gates cost, if it has any.
  void add_gate_term(TaskLoss& loss, Step step);
  // What gates have chosen in training since the last call, by block and option.
  ChoiceCounts take_choices();
  // Null without gates.
  GatesImpl* gates() { return gates_; }
  // Those bits as the step's loss found them, where the model has gates.
  StepBits executed(StepBits decided) const { return controller_->executed(std::move(decided)); }
  // Between the two, layers add up what quantizing does to their tensors.
  void begin_look() { controller_->begin_look(); }
  std::vector<LayerStatistics> end_look() { return controller_->end_look(); }
  // Tells the layers the precision of evaluations, after `step`, until something else is told.
  void apply_evaluation(const EvaluationBits& bits, Step step);
  // The same for a batch that goes through the model in training mode, without gradients; `number`
  // is the step that it counts as.
  void apply_evaluation_in_training(const EvaluationBits& bits, Step step, Step number);
  // Scores the model on a split at the given precision, after `step`. What `between_batches` throws
  // cuts it short.
  Score score(
      Split split, const EvaluationBits& bits, Step step,
      const std::function<void()>& between_batches = [] {});

 private:
  Recipe recipe_;
  std::unique_ptr<Task> task_;
  RunLength length_;
  std::unique_ptr<PrecisionPolicy> policy_;
  BackendChoice backend_;
  Scheme scheme_;
  std::unique_ptr<PrecisionController> controller_;
  std::unique_ptr<StepKeys> keys_;
  GatesImpl* gates_ = nullptr;
  std::unique_ptr<GateTerm> gate_term_;
};

}  // namespace bitcycle
