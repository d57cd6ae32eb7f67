#include "bitcycle/train/trainer.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/fingerprint.h"
#include "bitcycle/config/learning_rate.h"
#include "bitcycle/events/metrics_file.h"
#include "bitcycle/events/timing_file.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/train/cost_meter.h"
#include "bitcycle/train/diagnose.h"
#include "bitcycle/train/session.h"
#include "bitcycle/train/tensor_io.h"
#include "bitcycle/train/train_state.h"

#include "train/run_files.h"

#include <chrono>
#include <cmath>
#include <map>
#include <utility>

namespace bitcycle {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Every so many steps; 0 means only at the end of the run.
Step interval(double epochs, Step steps_per_epoch) {
  if (epochs <= 0) return 0;
  return std::max<Step>(1, std::llround(epochs * static_cast<double>(steps_per_epoch)));
}

}  // namespace

struct Trainer::Implementation {
  Implementation(const Recipe& recipe, std::filesystem::path run_directory, EventSinks others)
      : session(recipe, run_directory),
        total(session.length().steps),
        optimizer(session.model(), recipe.optimizer),
        meter(session.policy()),
        evaluation_bits(parse_evaluation_bits(recipe.evaluation.bits)),
        directory(run_directory),
        store(run_directory),
        sinks{std::make_shared<MetricsFile>(run_directory),
              std::make_shared<TimingFile>(run_directory)} {
    sinks.insert(sinks.end(), others.begin(), others.end());
    session.task().require_trainable();
    state.data = session.task().data_fingerprint();
    state.run = run_identity();
  }

  const Recipe& recipe() const { return session.recipe(); }
  double epochs_done() const {
    return static_cast<double>(state.step) / static_cast<double>(session.length().steps_per_epoch);
  }
  bool due(double every_epochs, Step step) const {
    const Step every = interval(every_epochs, session.length().steps_per_epoch);
    return step == total || (every > 0 && step % every == 0);
  }
  double lr(Step step) const {
    return learning_rate(recipe().optimizer.lr, recipe().lr_schedule, step, total) *
           state.plateau.factor;
  }

  std::string run_identity() const;
  bool resume(DataChanges changes);
  TrainState load_state(Step step, const std::vector<std::byte>& json,
                        const std::string& run) const;
  void check_data(const TrainState& loaded, DataChanges changes) const;
  TrainOutcome run(const StopSignal& stop_signal);
  void begin();
  void stop();
  void train_step();
  void differentiate(const at::Tensor& loss);
  void update();
  void count(const TaskLoss& result);
  [[noreturn]] void diverge(Step step, const std::string& what, const std::string& where) const;
  StepReport step_report() const;
  void report_step();
  bool evaluate_best_split();
  void report(const EvaluationReport& report);
  template <typename Event>
  void tell(const Event& event) {
    for (const auto& sink : sinks) event(*sink);
  }
  const char* best_split() const;
  std::string damage_of(Step step) const;
  void check_best();
  void mark_best();
  void tidy();
  void sync_sinks();
  std::map<std::string, NamedTensors> tensor_files();
  void save();
  void prune();
  void finish();

  Session session;
  Step total;
  Optimizer optimizer;
  CostMeter meter;
  EvaluationBits evaluation_bits;
  std::filesystem::path directory;
  CheckpointStore store;
  EventSinks sinks;
  TrainState state;
  StepBits bits;             // of the last step
  double timed_seconds = 0;  // measured here since the last logged step
  Step timed_steps = 0;
};

// Of the backend, what it came to counts: runs that compute the same are the same.
std::string Trainer::Implementation::run_identity() const {
  Recipe settled = session.recipe();
  settled.precision.backend = session.backend().backend;
  Fingerprint print;
  print.add(fingerprint(settled));
  print.add(state.data);
  return print.text();
}

bool Trainer::Implementation::resume(DataChanges changes) {
  const auto latest = store.latest();
  if (!latest) return false;
  CheckpointFiles loaded = store.load(*latest);
  const std::string origin = store.directory(*latest).string() + "/";
  const TrainState saved = load_state(*latest, loaded["state.json"], logged_run(directory));
  check_data(saved, changes);
  for (const auto& [file, tensors] : tensor_files()) {
    restore_tensors(std::move(loaded[file]), origin + file, tensors);
  }
  session.policy().restore(saved.policy);
  const std::string data = std::exchange(state, saved).data;
  state.data = data;
  return true;
}

// The state of a checkpoint, once it is sure that it belongs here.
TrainState Trainer::Implementation::load_state(Step step, const std::vector<std::byte>& json,
                                               const std::string& run) const {
  const std::filesystem::path where = store.directory(step);
  const std::string text(reinterpret_cast<const char*>(json.data()), json.size());
  const TrainState saved = train_state_from_json(text, (where / "state.json").string(), step);
  if (saved.run != run) {
    throw Error(ErrorCode::checkpoint,
                where.string() + " is a checkpoint of another run: expected the run " + run +
                    ", found " + saved.run,
                "Remove it to go back to the checkpoint before, or resume it in the directory that "
                "it came from.");
  }
  if (step <= total) return saved;
  throw Error(ErrorCode::usage,
              "the run is at step " + std::to_string(step) + ", and the recipe ends at " +
                  std::to_string(total),
              "A run can be made longer, not shorter; choose another --run-dir for a new one.");
}

void Trainer::Implementation::check_data(const TrainState& saved, DataChanges changes) const {
  if (saved.data == state.data || changes == DataChanges::accept) return;
  throw Error(ErrorCode::data,
              "the data of \"" + recipe().data.dataset +
                  "\" have changed since the run was stopped: expected the fingerprint " +
                  saved.data + ", found " + state.data,
              "Put them back as they were, start a new run, or go on with the new ones by "
              "--accept-changes.");
}

TrainOutcome Trainer::Implementation::run(const StopSignal& stop_signal) {
  begin();
  check_best();
  tidy();
  session.model().train();
  session.task().start(state.step * recipe().optimizer.accumulate);
  while (state.step < total) {
    const auto start = Clock::now();
    train_step();
    timed_seconds += seconds_since(start);
    ++timed_steps;
    report_step();
    const bool best = due(recipe().evaluation.every_epochs, state.step) && evaluate_best_split();
    if (best || due(recipe().checkpoint.every_epochs, state.step)) {
      save();
      if (best) mark_best();
      prune();
    }
    if (stop_signal.received() == 0 || state.step == total) continue;
    stop();
    return TrainOutcome::stopped;
  }
  finish();
  return TrainOutcome::finished;
}

void Trainer::Implementation::begin() {
  begin_run_files(directory, recipe(), session.task().texts());
  const RunStart start{.run = state.run,
                       .backend = name(session.backend().backend),
                       .counting = std::string(name(Counting::paper)),
                       .step = state.step};
  tell([&](EventSink& sink) {
    const auto offset = state.offsets.find(sink.name());
    sink.begin(start, offset == state.offsets.end() ? 0 : offset->second);
  });
}

void Trainer::Implementation::stop() {
  tell([report = step_report()](EventSink& sink) { sink.stop(report); });
  if (store.latest() != state.step) save();
}

void Trainer::Implementation::train_step() {
  bits = session.apply(state.step);
  optimizer.zero_grad();
  TaskLoss all;
  for (int i = 0; i < recipe().optimizer.accumulate; ++i) {
    const TaskLoss result = session.task().next_loss();
    differentiate(result.loss);
    all.metrics += result.metrics;
    all.work += result.work;
  }
  update();
  count(all);
}

// Gradients of several batches add up, so each loss counts for its share of the update.
void Trainer::Implementation::differentiate(const at::Tensor& loss) {
  const double value = loss.item<double>();
  if (!std::isfinite(value)) {
    const std::string layer = session.task().first_nonfinite_layer();
    diverge(state.step + 1, std::isnan(value) ? "the loss is not a number" : "the loss is infinite",
            layer.empty()
                ? "all layers' outputs are finite; the loss itself overflowed"
                : "the first value that is not finite is in the output of layer \"" + layer + "\"");
  }
  const int batches = recipe().optimizer.accumulate;
  batches == 1 ? loss.backward() : (loss / batches).backward();
}

void Trainer::Implementation::update() {
  const auto damaged = optimizer.step(lr(state.step), state.step);
  if (!damaged) return;
  diverge(state.step + 1, "its update made weights that are not finite",
          "the nearest to the loss are in \"" + *damaged + "\"");
}

void Trainer::Implementation::count(const TaskLoss& result) {
  state.bitops += result.work * meter.bitops(bits);
  state.bitops_static += result.work * meter.static_bitops();
  state.window += result.metrics;
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
              "Try a lower optimizer.lr, a warm-up (lr_schedule.warmup_steps), or more bits.");
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
          .seconds = timed_seconds,
          .steps_per_second = static_cast<double>(timed_steps) / timed_seconds,
          .logged = state.step % recipe().log_every == 0 || state.step == total};
}

void Trainer::Implementation::report_step() {
  const StepReport report = step_report();
  tell([&](EventSink& sink) { sink.step(report); });
  if (!report.logged) return;
  state.window.clear();
  timed_seconds = 0;
  timed_steps = 0;
}

const char* Trainer::Implementation::best_split() const {
  return recipe().evaluation.best_on == EvaluationRecipe::BestOn::validation ? "validation"
                                                                             : "test";
}

// True when this is the best evaluation so far.
bool Trainer::Implementation::evaluate_best_split() {
  const bool validation = recipe().evaluation.best_on == EvaluationRecipe::BestOn::validation;
  const Score score =
      session.score(validation ? Split::validation : Split::test, evaluation_bits, state.step - 1);
  const Metric& primary = session.task().metrics().primary();
  const double value = score.value(primary.name);
  const bool best =
      score.finite() && (state.best_step == 0 || primary.improves(value, state.best_value));
  if (best) {
    state.best_step = state.step;
    state.best_value = value;
  }
  if (recipe().lr_schedule.name == LearningRateRecipe::Name::plateau) {
    state.plateau.observe(score.value("loss"), recipe().lr_schedule.factor);
  }
  report({state.step, best_split(), recipe().evaluation.bits, score, best});
  return best;
}

void Trainer::Implementation::report(const EvaluationReport& report) {
  tell([&](EventSink& sink) { sink.evaluation(report); });
}

void Trainer::Implementation::sync_sinks() {
  tell([&](EventSink& sink) {
    const std::uint64_t offset = sink.sync();
    if (offset > 0) state.offsets[sink.name()] = offset;
  });
}

void Trainer::Implementation::save() {
  const std::string damaged = first_nonfinite_tensor(session.model());
  if (!damaged.empty()) {
    diverge(state.step, "the weights are damaged", "\"" + damaged + "\" is not finite");
  }
  sync_sinks();
  state.policy = session.policy().state();
  const std::string json = to_json(state);
  const auto* bytes = reinterpret_cast<const std::byte*>(json.data());
  CheckpointFiles content = {{"state.json", {bytes, bytes + json.size()}}};
  for (const auto& [file, tensors] : tensor_files()) content[file] = encode_tensors(tensors);
  store.save(state.step, content);
}

// The tensors of a checkpoint by file. Tasks that carry nothing from batch to batch have no file.
std::map<std::string, NamedTensors> Trainer::Implementation::tensor_files() {
  std::map<std::string, NamedTensors> files = {{"model.safetensors", model_state(session.model())},
                                               {"optimizer.safetensors", optimizer.state()}};
  const NamedTensors carried = session.task().state();
  if (!carried.empty()) files["task.safetensors"] = carried;
  return files;
}

// What is wrong with a checkpoint, if anything: it is not whole, or not of this run.
std::string Trainer::Implementation::damage_of(Step step) const {
  try {
    load_state(step, store.load(step)["state.json"], state.run);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// A damaged best checkpoint costs the run its best weights, not its end: the best evaluation of
// which the weights are whole takes its place, and later ones may be better. The weights of
// state.step are those in memory.
void Trainer::Implementation::check_best() {
  if (state.best_step == 0 || state.best_step == state.step) return;
  const std::string damage = damage_of(state.best_step);
  if (damage.empty()) return;
  const Metric& primary = session.task().metrics().primary();
  state.lost_best_step = std::exchange(state.best_step, 0);
  state.lost_best_value = std::exchange(state.best_value, 0);
  sync_sinks();
  const std::uint64_t length = state.offsets[sinks.front()->name()];
  for (const LoggedEvaluation& logged :
       logged_evaluations(directory, best_split(), primary.name, length)) {
    if (state.best_step != 0 && !primary.improves(logged.value, state.best_value)) continue;
    if (logged.step != state.step && !damage_of(logged.step).empty()) continue;
    state.best_step = logged.step;
    state.best_value = logged.value;
  }
  mark_best();
  const LostBestReport report{.step = state.step,
                              .metric = primary.name,
                              .lost_step = state.lost_best_step,
                              .lost_value = state.lost_best_value,
                              .best_step = state.best_step,
                              .best_value = state.best_value,
                              .damage = damage};
  tell([&](EventSink& sink) { sink.lost_best(report); });
}

void Trainer::Implementation::mark_best() {
  state.best_step == 0 ? store.unmark_best() : store.mark_best(state.best_step);
}

// Brings the checkpoints into the order that they would have if nobody had killed the run: a kill
// leaves files half-written, a best checkpoint without its mark, old ones that were to be removed.
void Trainer::Implementation::tidy() {
  store.remove_leftovers();
  mark_best();
  prune();
}

// Checkpoints that stand only because somebody stopped the run there go, so that a run which was
// stopped keeps the same ones as a run which was not.
void Trainer::Implementation::prune() {
  for (const Step step : store.steps()) {
    const bool regular = due(recipe().checkpoint.every_epochs, step) || step == state.step;
    if (!regular && step != state.best_step) store.remove(step);
  }
  store.prune(recipe().checkpoint.keep, state.best_step);
}

// The test score of the last weights and of the best ones, and the summary.
void Trainer::Implementation::finish() {
  check_best();
  const auto score_test = [&](Step step) {
    const Score score = session.score(Split::test, evaluation_bits, step - 1);
    report({step, "test", recipe().evaluation.bits, score, step == state.best_step});
    return score;
  };
  const Score last = score_test(total);
  Score best = last;
  if (state.best_step != 0 && state.best_step != total) {
    CheckpointFiles loaded = store.load(state.best_step);
    restore_tensors(std::move(loaded["model.safetensors"]), "the best checkpoint",
                    model_state(session.model()));
    best = score_test(state.best_step);
  }
  sync_sinks();
  write_summary(directory, recipe(), state,
                {.backend = session.backend().backend,
                 .primary = session.task().metrics().primary().name,
                 .test = {.last = last, .best = best}});
}

Trainer::Trainer(const Recipe& recipe, std::filesystem::path run_directory, EventSinks sinks)
    : implementation_(
          std::make_unique<Implementation>(recipe, std::move(run_directory), std::move(sinks))) {}
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
const std::vector<std::string>& Trainer::notices() const {
  return implementation_->session.backend().notices;
}
TrainOutcome Trainer::run(const StopSignal& stop) {
  return implementation_->run(stop);
}

}  // namespace bitcycle
