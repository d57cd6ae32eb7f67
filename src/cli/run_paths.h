#pragma once

// How the commands name run directories and what is in them.

#include "bitcycle/config/precision_plan.h"

#include "cli/torch_commands.h"

#include <filesystem>
#include <string>
#include <vector>

namespace bitcycle::cli {

struct TrainPaths {
  std::filesystem::path recipe;
  std::filesystem::path run_directory;
};

// The recipe file and run directory of `bitcycle train`: a directory given in place of a recipe is
// a run to go on with.
TrainPaths train_paths(const TrainOptions& options);

// The recipe stored in a run directory. Throws Error(usage) when the directory holds no run.
std::filesystem::path run_recipe(const std::filesystem::path& run_directory);

// A width to evaluate at, with the word the user gave.
struct Width {
  std::string text;
  EvaluationBits bits;
};
// "3,4,fp" in its parts. Throws Error(usage).
std::vector<Width> parse_widths(const std::string& list);

}  // namespace bitcycle::cli
