#pragma once

// Trains the cells of a sweep, several at a time, each in a process of its own.

#include "bitcycle/base/stop_signal.h"
#include "bitcycle/report/live_line.h"

#include "cli/sweep/sweep_plan.h"

namespace bitcycle::cli {

struct SweepRunOptions {
  int jobs = 1;
  int threads = 1;  // of all jobs together
  bool quiet = false;
};

struct SweepOutcome {
  SweepRecord record;
  std::size_t finished = 0, failed = 0;  // of the cells
};

// Goes through the cells that are not finished, seed by seed, so that a sweep which is stopped
// early can be compared. A cell that fails stops no other. After a stop signal those that run are
// told to stop, and waited for. sweep.json is written as cells end. The directory is locked by the
// caller.
SweepOutcome run_sweep_cells(const SweepPlan& plan, const SweepRunOptions& options,
                             const StopSignal& stop, LiveLine& line);

}  // namespace bitcycle::cli
