#pragma once

// How far a sweep is and how long it will take, from what its cells have taken so far.

#include "cli/sweep/sweep_plan.h"

#include <map>
#include <optional>
#include <string>

namespace bitcycle::cli {

class SweepProgress {
 public:
  SweepProgress(const SweepPlan& plan, int jobs);

  // A process of the cell has begun; its run has come so far; it has ended, finished or failed.
  void begin(std::size_t cell, double now);
  void advance(std::size_t cell, double now, const RunSummary& run);
  void end(std::size_t cell, double now, bool finished);

  // Seconds until all is done: what is left of each cell, in cells of its group or else of any,
  // shared among the jobs. Nothing before the first has come some way.
  std::optional<double> seconds_left() const;
  // "4/12 done, 1 failed, 23 min 10 s left; cpt,seed=2 step 300 of 800"
  std::string line() const;
  // "4 of 12 finished, 1 failed, 23 min 10 s left"
  std::string counts() const;

  std::size_t finished() const { return count(Phase::finished); }
  std::size_t failed() const { return count(Phase::failed); }
  std::size_t size() const { return cells_.size(); }

 private:
  enum class Phase { waiting, running, finished, failed };
  struct Cell {
    std::string name, group;
    Phase phase = Phase::waiting;
    Step step = 0, total = 0;
    double begun = 0;                // when, and
    double done_before = 0;          // how much of it was done then
    std::optional<double> duration;  // of the whole cell, by estimate

    double done() const;
  };
  std::size_t count(Phase phase) const;
  std::optional<double> duration_of(const Cell& cell) const;

  std::vector<Cell> cells_;
  int jobs_;
};

}  // namespace bitcycle::cli
