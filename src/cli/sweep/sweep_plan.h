#pragma once

// What a sweep finds in its directory: which cells are done, which go on, and what has changed
// since it was there last.

#include "bitcycle/config/sweep.h"

#include "cli/runs/run_summary.h"
#include "cli/sweep/sweep_record.h"

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle::cli {

struct PlannedCell {
  SweepCell cell;
  RunSummary run;                    // as it stands
  std::vector<std::string> changes;  // against the recipe that its directory holds
};

struct SweepPlan {
  std::string sweep;
  std::filesystem::path directory;
  std::vector<PlannedCell> cells;
  std::vector<std::string> vanished;  // cells of before that the sweep no longer has
  // The planned cells, and among them, in the order of the file, those that were begun before and
  // are left alone this time.
  SweepRecord record;
};

// Throws Error(recipe) for a sweep that is wrong, Error(usage) for a directory that holds a run.
SweepPlan plan_sweep(const std::filesystem::path& file, const std::filesystem::path& directory,
                     const SweepOptions& options = {});

// Throws Error(usage) with the cells whose recipes differ from those that were begun.
void refuse_changes(const SweepPlan& plan);
// Removes their runs, so that they begin anew.
void forget_changed(SweepPlan& plan);

// A row for each cell: what it costs and how far it is.
std::string plan_text(const SweepPlan& plan);
nlohmann::ordered_json plan_json(const SweepPlan& plan);

}  // namespace bitcycle::cli
