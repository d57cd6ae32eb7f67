#pragma once

// What a Trainer consists of. Its work is done in several places: trainer.cpp trains and reports,
// trainer_evaluation.cpp scores, trainer_checkpoints.cpp saves, resumes, and keeps the checkpoints
// in order, trainer_averaging.cpp averages weights, trainer_sinks.cpp looks after the sinks,
// trainer_rehearsal.cpp takes steps on trial.

#include "bitcycle/base/error.h"
#include "bitcycle/config/chosen_bits.h"
#include "bitcycle/config/learning_rate.h"
#include "bitcycle/events/layers_file.h"
#include "bitcycle/events/metrics_file.h"
#include "bitcycle/events/tensorboard_file.h"
#include "bitcycle/events/timing_file.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/train/cost_meter.h"
#include "bitcycle/train/optimizer.h"
#include "bitcycle/train/session.h"
#include "bitcycle/train/train_state.h"
#include "bitcycle/train/trainer.h"
#include "bitcycle/train/weights.h"

#include "train/run_files.h"
#include "train/weight_average.h"

#include <chrono>
#include <map>
#include <optional>

namespace bitcycle {

// That a call takes.
template <typename Call>
double seconds_of(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Trainer::Implementation {
  Implementation(const Recipe& recipe, std::filesystem::path run_directory, EventSinks others,
                 const RunParts& parts)
      : session(recipe, run_directory, parts),
        total(session.length().steps),
        optimizer(session.model(), recipe.optimizer, session.scheme().update),
        meter(session.policy()),
        evaluation_bits(parse_evaluation_bits(recipe.evaluation.bits)),
        directory(run_directory),
        store(run_directory),
        sinks{std::make_shared<MetricsFile>(run_directory, mean_of_choices(recipe.precision)),
              std::make_shared<TimingFile>(run_directory)},
        own_scheme(parts.scheme ? parts.scheme->name : ""),
        reduce(parts.reduce) {
    if (statistics_every() > 0) sinks.push_back(std::make_shared<LayersFile>(run_directory));
    if (recipe.tensorboard) {
      sinks.push_back(
          std::make_shared<TensorBoardFile>(run_directory, mean_of_choices(recipe.precision)));
    }
    for (const auto& sink : others) add_sink(sink);
    session.task().require_trainable();
    state.data = session.task().data_fingerprint();
    state.run = run_identity();
    notices = session.task().notices();
    const auto& more = session.backend().notices;
    notices.insert(notices.end(), more.begin(), more.end());
    if (recipe.averaging) average.emplace(session.model());
    if (!store.latest()) start_from_weights();
  }

  const Recipe& recipe() const { return session.recipe(); }
  double epochs_done() const {
    return static_cast<double>(state.step) / static_cast<double>(session.length().steps_per_epoch);
  }
  bool due(double every_epochs, Step step) const;
  // Steps between two looks at the layers; 0: nobody looks.
  Step statistics_every() const;
  bool looks_at(Step step) const;
  double lr(Step step) const {
    return learning_rate(recipe().optimizer.lr, recipe().lr_schedule, step, total) *
           state.plateau.factor;
  }

  void add_sink(const std::shared_ptr<EventSink>& sink);
  Recipe settled_recipe() const;
  std::string run_identity() const;
  void start_from_weights();
  bool resume(DataChanges changes);
  TrainState load_state(Step step, const std::vector<std::byte>& json,
                        const std::string& run) const;
  void check_data(const TrainState& loaded, DataChanges changes) const;
  TrainOutcome run(const StopSignal& stop_signal);
  void require_own_directory() const;
  void train_on(const StopSignal& stop_signal);
  void settle_step(const StopSignal& stop_signal);
  void begin();
  void stop();
  TaskLoss compute_step();
  void train_step();
  Rehearsal rehearse(int steps);
  TrainOutcome practise(const StopSignal& stop_signal, EventSinks told,
                        const std::function<bool()>& enough);
  void timed_step();
  void differentiate(const at::Tensor& loss);
  void reduce_gradients();
  void update();
  void count(const TaskLoss& result);
  [[noreturn]] void diverge(Step step, const std::string& what, const std::string& where) const;
  StepReport step_report() const;
  void report_step();
  void report_layers(std::vector<LayerStatistics> layers);
  bool evaluate_best_split(const StopSignal& stop_signal);
  void report(const EvaluationReport& report);
  template <typename Event>
  void tell(const Event& event);
  void begin(EventSink& sink, const RunStart& start);
  // Leaves out a sink that the run can do without, and says so.
  void lose(const std::shared_ptr<EventSink>& sink, const Error& error);
  const char* best_split() const;
  std::string evaluation_widths(Step step) const;
  std::string damage_of(Step step) const;
  void check_best();
  void mark_best();
  void tidy();
  void sync_sinks();
  std::map<std::string, NamedTensors> tensor_files(const TrainState& of);
  void average_weights();
  void settle_average();
  std::optional<AveragedResult> finish_average(const StopSignal& stop_signal);
  Score score_averaged(const std::string& split, const StopSignal& stop_signal);
  void save_averaged();
  void save();
  void prune();
  void finish(const StopSignal& stop_signal);

  Session session;
  Step total;
  Optimizer optimizer;
  CostMeter meter;
  EvaluationBits evaluation_bits;
  std::filesystem::path directory;
  CheckpointStore store;
  EventSinks sinks;
  std::string own_scheme;  // the name of one that the recipe does not know
  std::function<void(std::vector<at::Tensor>&)> reduce;
  TrainState state;
  std::vector<std::string> notices;
  std::optional<TakenWeights> weights;   // that the run starts from
  std::optional<WeightAverage> average;  // where the recipe wants it
  StepBits bits;                         // of the last step
  double timed_seconds = 0;              // measured here since the last logged step
  Step timed_steps = 0;
};

template <typename Event>
void Trainer::Implementation::tell(const Event& event) {
  for (const auto& sink : EventSinks(sinks)) {
    try {
      event(*sink);
    } catch (const Error& error) {
      const bool file = error.code() == ErrorCode::io || error.code() == ErrorCode::checkpoint;
      if (!file || sink->importance() == Importance::essential) throw;
      lose(sink, error);
    }
  }
}

}  // namespace bitcycle
