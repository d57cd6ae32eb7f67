#include "cli/torch/load_checkpoint.h"

#include "bitcycle/base/error.h"
#include "bitcycle/events/timing_file.h"
#include "bitcycle/train/tensor_io.h"
#include "bitcycle/train/train_state.h"

#include "cli/runs/run_paths.h"
#include "io/is_there.h"

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

// A relative data.root may lead to other data from here.
void require_same_data(Session& session, const TrainState& trained) {
  const std::string found = session.task().data_fingerprint();
  if (trained.data == found) return;
  throw Error(
      ErrorCode::data,
      fmt::format("the data are not those of the run: expected {}, found {} in \"{}\"",
                  trained.data, found, session.recipe().data.root),
      "Files there have come, gone or changed (or the run's vocabulary.txt), so that other samples "
      "are held out now. A relative data.root counts from where the run was started, else from the "
      "current directory. `bitcycle predict RUN DIR` answers for pictures that are new.");
}

void restore_state(Session& session, const RunCheckpoint& checkpoint, DataChanges changes) {
  constexpr const char* kFile = "state.json";
  const std::span<const std::byte> json = checkpoint.bytes(kFile);
  const std::string text(reinterpret_cast<const char*>(json.data()), json.size());
  const TrainState state =
      train_state_from_json(text, checkpoint.path(kFile).string(), checkpoint.step);
  if (changes == DataChanges::refuse) require_same_data(session, state);
  session.policy().restore(state.policy);
}

}  // namespace

Recipe recipe_of_run(const std::filesystem::path& run) {
  Recipe recipe = read_recipe(run_recipe(run));
  const std::filesystem::path root = started_in(run) / recipe.data.root;
  if (!recipe.data.root.empty() && is_there(root)) recipe.data.root = root.string();
  return recipe;
}

void load_checkpoint(Session& session, RunCheckpoint checkpoint, DataChanges changes) {
  constexpr const char* kFile = "model.safetensors";
  restore_state(session, checkpoint, changes);
  restore_tensors(std::move(checkpoint.files[kFile]), checkpoint.path(kFile).string(),
                  model_state(session.model()));
}

}  // namespace bitcycle::cli
