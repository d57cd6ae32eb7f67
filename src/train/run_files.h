#pragma once

// The files of a run directory that are written whole: recipe.toml when a run begins or goes on,
// summary.json when it is finished.

#include "bitcycle/config/backend.h"
#include "bitcycle/events/event_sink.h"
#include "bitcycle/events/metric.h"
#include "bitcycle/tasks/task.h"
#include "bitcycle/train/train_state.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace bitcycle {

struct TestScores {
  Score last;  // of the last weights
  Score best;  // of the weights that were best on the evaluation split
};

// Of the averaged weights.
struct AveragedResult {
  Step points = 0;  // that they are the mean of
  std::optional<Score> validation;
  Score test;
};

// Writes recipe.toml and the task's texts, and removes what is no longer true: an old summary,
// averaged weights, and what a killed process left half-written.
void begin_run_files(const std::filesystem::path& run_directory, const Recipe& recipe,
                     const RunTexts& texts);
// The texts of the run whose checkpoints are there.
RunTexts stored_texts(const std::filesystem::path& run_directory);

// What a run came to. `backend` is what the recipe's came to, `primary` the name of the metric that
// chose the best weights.
struct RunResult {
  Backend backend = Backend::simulate;
  std::string primary;
  TestScores test;
  std::vector<StageChange> stages;  // that the precision went through
  std::optional<AveragedResult> averaged;
};
void write_summary(const std::filesystem::path& run_directory, const Recipe& recipe,
                   const TrainState& state, const RunResult& result);

}  // namespace bitcycle
