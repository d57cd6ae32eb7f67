#pragma once

// `bitcycle train RECIPE --dry-run`: everything is checked and opened as for training, a few steps
// are measured, and what would come of it is told. Nothing is written.

#include "bitcycle/config/recipe.h"

#include "cli/runs/run_paths.h"

namespace bitcycle::cli {

int dry_run(const Recipe& recipe, const TrainPaths& paths);

}  // namespace bitcycle::cli
