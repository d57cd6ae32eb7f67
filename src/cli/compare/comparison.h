#pragma once

// Runs held against each other. Runs that differ in nothing but the seed are a group, whose score
// has a mean and a spread; every group is held against its baseline.

#include "bitcycle/base/statistics.h"

#include "cli/runs/run_summary.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle::cli {

// A run with the places that a sweep gives it. Without them runs are grouped by what they compute,
// and compared with the baseline of all.
struct ComparedRun {
  RunSummary run;
  std::string group = "", baseline = "";  // names of groups
};

// The dataset; data of the user's own are known by their place alone.
std::string data_name(const DataRecipe& data);

// What costs are held against: static at each run's own upper bits, or the baseline.
enum class CostReference { static_bits, baseline };

struct RunGroup {
  std::string name;  // of the sweep, else its precision
  bool named = false;
  std::vector<std::size_t> runs;  // all that belong to it
  // Of those that have finished:
  std::optional<Spread> score;
  std::optional<double> gbitops, saving_percent, seconds;  // means
  // Against the baseline, unless this is it or nothing can be compared:
  std::optional<std::size_t> baseline;  // which group
  std::optional<Difference> difference;
  std::optional<double> time_saved_percent, cost_saved_of_baseline_percent;
};

// A key in which groups differ, with its value in each; "-" where it is not set or does not apply.
struct DifferingKey {
  std::string key;
  std::vector<std::string> values;
};

struct Comparison {
  std::vector<RunSummary> runs;
  std::vector<RunGroup> groups;
  std::vector<DifferingKey> keys;
  bool seeds = false;  // whether a group has several runs
  CostReference cost_reference = CostReference::static_bits;
  // Whether some were not compared with the baseline because they are of another training.
  bool times_withheld = false, costs_withheld = false;

  // Of the runs of a group the first that can be read, where there is one.
  const RunSummary& first(const RunGroup& group) const;
};

// `baseline` is the run whose group the others are compared with, where none is stated.
Comparison compare_runs(std::vector<ComparedRun> runs, std::size_t baseline,
                        CostReference cost_reference = CostReference::static_bits);

}  // namespace bitcycle::cli
