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

// The recipe file and run directory of `bitcycle train`: a recipe may be given by its name, and a
// directory in its place is a run to go on with. Throws Error(usage).
TrainPaths train_paths(const TrainOptions& options);

// Whether somebody who gives this path means the directory of a run.
bool names_run(const std::filesystem::path& given);

// The recipe stored in a run directory. Throws Error(usage) when the directory holds no run.
std::filesystem::path run_recipe(const std::filesystem::path& run_directory);

// What a run is called: the last part of its path. "runs/demo-cpt/" and "." have a name too.
std::string run_name(const std::filesystem::path& run_directory);

// A width to evaluate at, with the word the user gave.
struct Width {
  std::string text;
  EvaluationBits bits;
};
// "3,4,fp" in its parts. Throws Error(usage).
std::vector<Width> parse_widths(const std::string& list);

}  // namespace bitcycle::cli
