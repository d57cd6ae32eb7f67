#pragma once

// The text files of a run directory. metrics.jsonl holds what the run computed, and is the same for
// equal runs; timing.jsonl holds what was measured.

#include "bitcycle/config/backend.h"
#include "bitcycle/io/line_log.h"
#include "bitcycle/train/train_state.h"
#include "bitcycle/train/trainer.h"

#include "train/metrics_log.h"

#include <filesystem>
#include <optional>

namespace bitcycle {

struct TestScores {
  Score last;  // of the last weights
  Score best;  // of the weights that were best on the evaluation split
};

class RunFiles {
 public:
  explicit RunFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // Writes recipe.toml, opens the logs where `state` stands, and removes what a killed process left
  // half-written. `backend` is what the recipe's came to.
  void open(const Recipe& recipe, Backend backend, const TrainState& state);
  void log_step(const StepReport& report, const TrainState& state, double seconds);
  // Seconds that the steps since the last line took, up to `step`.
  void log_time(Step step, double seconds);
  void log_evaluation(const EvaluationReport& report);
  // That the best checkpoint was damaged, and which is the best now.
  void log_lost_best(const TrainState& state);
  // Evaluations of a split that this run has logged.
  std::vector<LoggedEvaluation> evaluations(const std::string& split) const;
  // Brings the logs to the disk; returns the length of metrics.jsonl.
  std::uint64_t sync();
  void write_summary(const Recipe& recipe, Backend backend, const TrainState& state,
                     const TestScores& test);

 private:
  std::filesystem::path directory_;
  std::optional<LineLog> metrics_, timing_;
};

}  // namespace bitcycle
