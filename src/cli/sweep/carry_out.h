#pragma once

// How a grid of cells is trained, whichever command asks for it.

#include "cli/sweep/sweep_plan.h"

#include <functional>

#include <CLI/CLI.hpp>

namespace bitcycle::cli {

struct SweepConduct {
  int jobs = 1;
  bool dry_run = false, redo_changed = false, quiet = false, json = false;
};
void add_conduct(CLI::App& command, SweepConduct& conduct);
// Which cells, and what is laid over them.
void add_selection(CLI::App& command, SweepOptions& what);

struct SweepWork {
  std::filesystem::path file, directory;
  SweepOptions what;
  SweepConduct conduct;
};

using SweepResultPrinter = std::function<void(const SweepPlan&, const SweepRecord&)>;

// Trains what is left to train, and has the result printed once all cells have ended. Returns the
// exit status.
int carry_out(const SweepWork& work, const SweepResultPrinter& print_result);

}  // namespace bitcycle::cli
