#pragma once

// evaluations.json: what `bitcycle eval` found of a run, kept with it so that reports have it:
//
//   {"evaluations": [{"checkpoint": "best", "step": 7020, "split": "test", "bits": "8",
//    "metrics": {"accuracy": 91.2, "loss": 0.31}}]}
//
// An evaluation replaces the one of the same checkpoint, step, split and bits.

#include "bitcycle/events/metric.h"
#include "bitcycle/schedule/schedule.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace bitcycle {

inline constexpr const char* kEvaluationsFile = "evaluations.json";

struct StoredEvaluation {
  std::string checkpoint;  // best, last, or the number of a step
  Step step = 0;
  std::string split;
  std::string bits;  // as eval prints it: "8", "fp", "as chosen", "4/6", ...
  std::vector<std::pair<std::string, double>> metrics;
};

// What became of a damaged file: it is kept with kDamagedEnding behind its name, if it can be.
enum class DamagedEvaluations { none, kept, lost };
inline constexpr const char* kDamagedEnding = ".damaged";

// Adds evaluations to those that are there; a file that is damaged is written anew, with what can
// be read of it. Throws Error(io).
DamagedEvaluations store_evaluations(const std::filesystem::path& run_directory,
                                     const std::vector<StoredEvaluation>& evaluations);

// Empty without a file. What cannot be read is passed over.
std::vector<StoredEvaluation> stored_evaluations(const std::filesystem::path& run_directory);

}  // namespace bitcycle
