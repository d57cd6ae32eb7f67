#include "bitcycle/base/error.h"
#include "bitcycle/base/fingerprint.h"
#include "bitcycle/data/class_names.h"
#include "bitcycle/events/timing_file.h"
#include "bitcycle/io/safetensors.h"
#include "bitcycle/train/diagnose.h"
#include "bitcycle/train/tensor_io.h"

#include "report/printable.h"
#include "train/run_files.h"
#include "train/trainer_implementation.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitcycle {

namespace {

constexpr const char* kCarriedFile = "task.safetensors";
constexpr const char* kAverageFile = "average.safetensors";

// Rows of an embedding belong to words: those of another vocabulary are of no use.
void require_same_texts(const WeightsFile& weights, const RunTexts& texts) {
  for (const auto& [file, text] : stored_texts(weights.run)) {
    const auto own = texts.find(file);
    if (own == texts.end() || own->second == text) continue;
    throw Error(ErrorCode::checkpoint,
                "model.weights: expected the " + file + " of this run's data, found another in \"" +
                    weights.run.string() + "\"",
                "Use weights of a run on the same text, or on a part of it (data.part).");
  }
}

bool same_split(const Recipe& a, const Recipe& b) {
  return a.seed == b.seed && a.data.validation == b.data.validation && a.data.test == b.data.test &&
         a.data.limit == b.data.limit;
}

// The recipe of the run that weights are of, where there is one that can be read.
std::optional<Recipe> recipe_of(const WeightsFile& weights) try {
  if (weights.run.empty()) return std::nullopt;
  return read_recipe(weights.run / "recipe.toml");
} catch (const Error&) {
  return std::nullopt;
}

// Of pictures or a text of one's own: the same place, however it is written.
bool same_place(const WeightsFile& weights, const Recipe& theirs, const Recipe& ours) {
  std::error_code ignored;
  return std::filesystem::equivalent(started_in(weights.run) / theirs.data.root, ours.data.root,
                                     ignored);
}

// Samples that this run validates or tests on may be among those that the weights were trained on.
// Known datasets have a test set of their own; of one's own data a file more or less deals all of
// them out anew.
std::string split_notice(const WeightsFile& weights, const Recipe& recipe,
                         const std::string& data_fingerprint) {
  const std::optional<Recipe> theirs = recipe_of(weights);
  if (!theirs || theirs->data.dataset != recipe.data.dataset) return "";
  const bool own = recipe.data.dataset == "image_folder" || recipe.data.dataset == "text";
  if (own && !same_place(weights, *theirs, recipe)) return "";
  const bool comparable = own && !weights.data.empty() && theirs->data.part == recipe.data.part;
  const bool same_files = !comparable || weights.data == data_fingerprint;
  const bool asked_alike = same_split(*theirs, recipe);
  if (asked_alike && same_files) return "";
  return fmt::format(
      "{} held out other samples of the same data ({}):\n  its weights may have been trained on "
      "samples that are {} on here",
      weights.run.string(),
      asked_alike ? "files have come or gone since"
                  : "seed, data.validation, data.test or data.limit differ",
      own ? "validated or tested" : "validated");
}

// As many classes, but others: the last layer fits, and knows nothing of them.
std::string classes_notice(const WeightsFile& weights, const Recipe& recipe,
                           const std::string& last_layer) {
  if (weights.run.empty()) return "";
  const std::vector<std::string> theirs = stored_class_names(weights.run);
  const std::vector<std::string> ours = class_names(recipe.data.dataset, recipe.data.root);
  if (theirs.size() != ours.size() || theirs == ours) return "";
  const auto [there, here] = std::ranges::mismatch(theirs, ours);
  return fmt::format(
      "{} told other classes apart ({} there, {} here):\n  its last layer, {}, is taken all the "
      "same, since there are as many",
      weights.run.string(), printable_line(*there), printable_line(*here), last_layer);
}

// What is carried from batch to batch is so for each row of a batch.
void require_same_columns(const std::vector<std::byte>& bytes, const std::string& origin,
                          const NamedTensors& tensors) {
  const TensorFile stored = decode_safetensors(bytes, origin);
  for (const auto& [name, tensor] : tensors) {
    const auto found = stored.tensors.find(name);
    if (found == stored.tensors.end() || found->second.shape == tensor.sizes().vec()) continue;
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: the state \"{}\", carried from batch to batch, has the shape [{}], "
                    "and the recipe's is [{}]",
                    origin, name, fmt::join(found->second.shape, ", "),
                    fmt::join(tensor.sizes().vec(), ", ")),
        "data.batch_size of a recurrent model cannot change under way: put it back, or begin "
        "a new run from these weights (model.weights).");
  }
}

// Gates are listed behind the layers that they choose for.
std::string last_layer(const std::vector<LayerInfo>& layers) {
  const auto is_gate = [](const LayerInfo& layer) { return matches(layer, "@gate"); };
  return std::find_if_not(layers.rbegin(), layers.rend(), is_gate)->name;
}

}  // namespace

// The weights of another run count once, at the start: a run that is resumed has its own.
void Trainer::Implementation::start_from_weights() {
  if (!recipe().model.weights || weights) return;
  const WeightsFile file = find_weights(*recipe().model.weights);
  require_same_texts(file, session.task().texts());
  const std::string last = last_layer(session.task().layers());
  weights = take_weights(file, model_state(session.model()), last);
  for (const std::string& line : to_lines(*weights)) notices.push_back(line);
  const std::string split = split_notice(file, recipe(), session.task().data_fingerprint());
  if (!split.empty()) notices.push_back(split);
  const std::string classes = classes_notice(file, recipe(), last);
  if (!classes.empty()) notices.push_back(classes);
  state.run = run_identity();
}

// Of the backend, what it came to counts, and of the weights, what is in them: runs that compute
// the same are the same.
Recipe Trainer::Implementation::settled_recipe() const {
  Recipe settled = session.recipe();
  settled.precision.backend = session.backend().backend;
  if (weights) settled.model.weights = weights->fingerprint;
  return settled;
}

std::string Trainer::Implementation::run_identity() const {
  Fingerprint print;
  print.add(fingerprint(settled_recipe()));
  print.add(state.data);
  if (!own_scheme.empty()) print.add(own_scheme);
  return print.text();
}

bool Trainer::Implementation::resume(DataChanges changes) {
  const auto latest = store.latest();
  if (!latest) return false;
  CheckpointFiles loaded = store.load(*latest);
  const std::string origin = store.directory(*latest).string() + "/";
  const TrainState saved = load_state(*latest, loaded["state.json"], logged_run(directory));
  check_data(saved, changes);
  for (const auto& [file, tensors] : tensor_files(saved)) {
    if (file == kCarriedFile) require_same_columns(loaded[file], origin + file, tensors);
    restore_tensors(std::move(loaded[file]), origin + file, tensors);
  }
  session.policy().restore(saved.policy);
  const std::string data = std::exchange(state, saved).data;
  state.data = data;
  settle_average();
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
  const std::string length = recipe().steps > 0
                                 ? ""
                                 : fmt::format(" ({:g} epochs of {} steps)", recipe().epochs,
                                               session.length().steps_per_epoch);
  throw Error(
      ErrorCode::usage,
      fmt::format("the run is at step {}, and the recipe ends at {}{}", step, total, length),
      "A run can be made longer, not shorter, and larger batches make for fewer steps; "
      "choose another --run-dir for a new run.");
}

void Trainer::Implementation::check_data(const TrainState& saved, DataChanges changes) const {
  if (saved.data == state.data || changes == DataChanges::accept) return;
  throw Error(
      ErrorCode::data,
      "the data of \"" + recipe().data.dataset +
          "\" have changed since the run was stopped: files were added, removed, renamed or "
          "changed (fingerprint " +
          saved.data + " then, " + state.data + " now)",
      "Put them back as they were, start a new run, or go on with the new ones by "
      "--accept-changes.");
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
  for (const auto& [file, tensors] : tensor_files(state)) content[file] = encode_tensors(tensors);
  store.save(state.step, content);
}

// The tensors of a checkpoint by file. Tasks that carry nothing from batch to batch have no file,
// and neither have averages of nothing.
std::map<std::string, NamedTensors> Trainer::Implementation::tensor_files(const TrainState& of) {
  std::map<std::string, NamedTensors> files = {{"model.safetensors", model_state(session.model())},
                                               {"optimizer.safetensors", optimizer.state()}};
  const NamedTensors carried = session.task().state();
  if (!carried.empty()) files[kCarriedFile] = carried;
  if (average && of.averaged) files[kAverageFile] = average->state();
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

}  // namespace bitcycle
