#include "bitcycle/train/trainer.h"

#include "bitcycle/base/error.h"
#include "bitcycle/data/class_names.h"
#include "bitcycle/events/evaluations_file.h"
#include "bitcycle/train/diagnose.h"

#include "config/epoch_interval.h"
#include "config/statistics_interval.h"
#include "train/run_files.h"
#include "train/trainer_implementation.h"

#include <cmath>

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr const char* kWeightsReport = "weights.json";

// The cost that gates add to the loss grows with beta, the batch and the blocks.
std::string divergence_hint(const Recipe& recipe) {
  std::string beta;
  if (const auto& gates = recipe.precision.dynamic) {
    beta = fmt::format(", a lower precision.dynamic.beta (it is {:g}; FracTrain has {:g})",
                       gates->beta, DynamicRecipe().beta);
  }
  return "Try a lower optimizer.lr, a warm-up (lr_schedule.warmup_steps)" + beta +
         ", or more bits.";
}

}  // namespace

bool Trainer::Implementation::due(double every_epochs, Step step) const {
  return is_due(every_epochs, step, session.length());
}

Step Trainer::Implementation::statistics_every() const {
  return statistics_interval(recipe(), total);
}

bool Trainer::Implementation::looks_at(Step step) const {
  const Step every = statistics_every();
  return every > 0 && (step % every == 0 || step == total);
}

// Checkpoints of another run are somebody's work.
void Trainer::Implementation::require_own_directory() const {
  if (state.step > 0 || !store.latest()) return;
  throw Error(ErrorCode::usage, "\"" + directory.string() + "\" already holds a run",
              "Call resume() to go on with it, or choose another directory.");
}

TrainOutcome Trainer::Implementation::run(const StopSignal& stop_signal) {
  require_own_directory();
  if (state.step == 0) start_from_weights();
  begin();
  check_best();
  tidy();
  session.model().train();
  session.task().start(state.step * recipe().optimizer.accumulate);
  try {
    train_on(stop_signal);
    finish(stop_signal);
  } catch (const Stopped&) {
    stop();
    return TrainOutcome::stopped;
  }
  return TrainOutcome::finished;
}

void Trainer::Implementation::train_on(const StopSignal& stop_signal) {
  if (state.evaluation_due) settle_step(stop_signal);
  while (state.step < total) {
    timed_step();
    average_weights();
    state.evaluation_due = due(recipe().evaluation.every_epochs, state.step);
    settle_step(stop_signal);
    if (state.step < total) stop_signal.check();
  }
}

void Trainer::Implementation::timed_step() {
  timed_seconds += seconds_of([this] { train_step(); });
  ++timed_steps;
  report_step();
}

// What a step is followed by: its evaluation and its checkpoint, where they are due.
void Trainer::Implementation::settle_step(const StopSignal& stop_signal) {
  const bool best = state.evaluation_due && evaluate_best_split(stop_signal);
  if (!best && !due(recipe().checkpoint.every_epochs, state.step)) return;
  save();
  if (best) mark_best();
  prune();
}

void Trainer::Implementation::begin() {
  RunTexts texts = session.task().texts();
  texts.merge(session.task().descriptions());
  std::filesystem::create_directories(directory);
  if (state.step == 0) {
    std::filesystem::remove(directory / kWeightsReport);
    std::error_code unlike_a_file;  // which writing it will name
    std::filesystem::remove(directory / kClassNamesFile, unlike_a_file);
    std::filesystem::remove(directory / kEvaluationsFile);  // of weights that are no more
    if (weights) texts[kWeightsReport] = to_json(*weights);
  }
  begin_run_files(directory, recipe(), texts);
  const RunStart start{.run = state.run,
                       .recipe = result_toml(settled_recipe()),
                       .backend = name(session.backend().backend),
                       .counting = std::string(name(Counting::paper)),
                       .step = state.step};
  tell([&](EventSink& sink) { begin(sink, start); });
}

void Trainer::Implementation::stop() {
  tell([report = step_report()](EventSink& sink) { sink.stop(report); });
  if (store.latest() != state.step) save();
}

// Everything of a step but what is remembered of it.
TaskLoss Trainer::Implementation::compute_step() {
  bits = session.apply(state.step);
  optimizer.zero_grad();
  TaskLoss all;
  for (int i = 0; i < recipe().optimizer.accumulate; ++i) {
    TaskLoss result = session.task().next_loss();
    session.add_gate_term(result, state.step);
    differentiate(result.loss);
    all.metrics += result.metrics;
    all.work += result.work;
  }
  bits = session.executed(std::move(bits));
  if (reduce) reduce_gradients();
  update();
  return all;
}

void Trainer::Implementation::train_step() {
  const bool looks = looks_at(state.step + 1);
  if (looks) session.begin_look();
  count(compute_step());
  if (looks) report_layers(session.end_look());
}

// Gradients of several batches add up, so each loss counts for its share of the update.
void Trainer::Implementation::differentiate(const at::Tensor& loss) {
  const double value = loss.item<double>();
  if (!std::isfinite(value)) {
    diverge(state.step + 1, std::isnan(value) ? "the loss is not a number" : "the loss is infinite",
            cause_of_nonfinite_loss(session.task()));
  }
  const int batches = recipe().optimizer.accumulate;
  batches == 1 ? loss.backward() : (loss / batches).backward();
}

void Trainer::Implementation::reduce_gradients() {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : session.model().parameters()) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  const at::NoGradGuard no_grad;
  reduce(gradients);
}

void Trainer::Implementation::update() {
  const OptimizerStep step{state.step,
                           static_cast<double>(state.step) / static_cast<double>(total)};
  const auto damaged = optimizer.step(lr(state.step), step);
  if (!damaged) return;
  diverge(state.step + 1, "its update made weights that are not finite",
          "the nearest to the loss are in \"" + *damaged + "\"");
}

void Trainer::Implementation::count(const TaskLoss& result) {
  state.bitops += result.work * meter.bitops(bits);
  state.bitops_static += result.work * meter.static_bitops();
  state.window += result.metrics;
  add_choices(state.choices, session.take_choices());
  const auto change = session.policy().observe(state.step, result.metrics);
  ++state.step;
  if (change) tell([&](EventSink& sink) { sink.stage(*change); });
}

// Steps count from 1 here, as they do in the log.
void Trainer::Implementation::diverge(Step step, const std::string& what,
                                      const std::string& where) const {
  const auto latest = store.latest();
  const std::string checkpoint = latest
                                     ? "the last checkpoint is " + store.directory(*latest).string()
                                     : "there is no checkpoint yet";
  throw Error(ErrorCode::diverged,
              "training stopped at step " + std::to_string(step) + ": " + what + "; " + where +
                  "; " + checkpoint,
              divergence_hint(recipe()));
}

StepReport Trainer::Implementation::step_report() const {
  return {.step = state.step,
          .total = total,
          .epoch = epochs_done(),
          .metrics = session.task().metrics().measure(state.window),
          .lr = lr(state.step - 1),
          .bits = bits.common,
          .bitops = state.bitops,
          .bitops_static = state.bitops_static,
          .choices = choice_shares(state.choices),
          .seconds = timed_seconds,
          .steps_per_second = static_cast<double>(timed_steps) / timed_seconds,
          .logged = state.step % recipe().log_every == 0 || state.step == total};
}

void Trainer::Implementation::report_step() {
  const StepReport report = step_report();
  tell([&](EventSink& sink) { sink.step(report); });
  if (!report.logged) return;
  state.window.clear();
  state.choices.clear();
  timed_seconds = 0;
  timed_steps = 0;
}

void Trainer::Implementation::report_layers(std::vector<LayerStatistics> layers) {
  const LayerReport report{
      .step = state.step, .number = state.step / statistics_every(), .layers = std::move(layers)};
  tell([&](EventSink& sink) { sink.layers(report); });
}

Trainer::Trainer(const Recipe& recipe, std::filesystem::path run_directory, EventSinks sinks,
                 const RunParts& parts)
    : implementation_(std::make_unique<Implementation>(recipe, std::move(run_directory),
                                                       std::move(sinks), parts)) {}
Trainer::~Trainer() = default;

bool Trainer::resume(DataChanges changes) {
  return implementation_->resume(changes);
}
Step Trainer::step() const {
  return implementation_->state.step;
}
Step Trainer::total_steps() const {
  return implementation_->total;
}
const RunLength& Trainer::length() const {
  return implementation_->session.length();
}
std::string Trainer::backend() const {
  return name(implementation_->session.backend().backend);
}
const std::vector<std::string>& Trainer::notices() const {
  return implementation_->notices;
}
const std::vector<std::string>& Trainer::warnings() const {
  return implementation_->session.backend().warnings;
}
Rehearsal Trainer::rehearse(int steps) {
  return implementation_->rehearse(steps);
}
TrainOutcome Trainer::practise(const StopSignal& stop, EventSinks sinks,
                               const std::function<bool()>& enough) {
  return implementation_->practise(stop, std::move(sinks), enough);
}
TrainOutcome Trainer::run(const StopSignal& stop) {
  return implementation_->run(stop);
}

}  // namespace bitcycle
