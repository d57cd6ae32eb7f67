#pragma once

// A run in a few lines: what it is, how far it has come, what it scored, cost and took. Made of
// whatever its directory holds.

#include "bitcycle/events/evaluations_file.h"
#include "bitcycle/events/metric.h"

#include "report/view/run_record.h"

#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

struct OverviewScore {
  double value = 0;
  Step step = 0;
  std::string split, bits;
  std::string widths = {};  // what `bits` came to, where that is known
};

struct OverviewCost {
  double gbitops = 0, gbitops_static = 0, saving_percent = 0;
  Step step = 0;  // up to which it is: the last logged one
};

// What share of the samples chose an option, over all blocks.
struct OverviewChoice {
  std::string option;
  double share = 0;
};

// The averaged weights of a finished run.
struct OverviewAverage {
  Step points = 0;  // that they are the mean of
  OverviewScore test;
};

struct RunOverview {
  std::string run, model, dataset, precision, backend, scheme, counting;
  std::optional<std::uint64_t> seed;
  RunState state = RunState::stopped;
  Step steps_done = 0, steps_total = 0;  // 0 in all: not known
  std::optional<double> epoch;           // once a step is logged
  std::optional<Metric> metric;          // by which the best weights were chosen
  std::optional<OverviewScore> best;     // the best evaluation while training
  std::optional<OverviewScore> test;     // of the best weights, once the run is finished
  std::optional<OverviewAverage> averaged;
  std::optional<OverviewCost> cost;
  std::optional<double> seconds;
  std::vector<OverviewChoice> choices;  // of the last logged step of a run with gates
  std::vector<StageChange> stages;
  std::vector<StoredEvaluation> evaluations;  // by `bitcycle eval`
  std::vector<std::string> notices;
};

RunOverview run_overview(const RunRecord& record);

// "finished", "running", "stopped".
std::string state_name(RunState state);

}  // namespace bitcycle
