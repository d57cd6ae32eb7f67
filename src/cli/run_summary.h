#pragma once

// The result of a finished run, read from its directory, and a table of several.

#include "bitcycle/cost/cost_model.h"
#include "bitcycle/events/event_sink.h"
#include "bitcycle/events/metric.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle::cli {

struct RunSummary {
  std::string run;        // directory
  std::string precision;  // e.g. "CR 3-8/8"
  std::string backend;    // what carried it out; "float" where nothing was quantized
  Measured score;         // test, by the task's primary metric, of the best weights
  double gbitops = 0;
  Counting counting = Counting::paper;  // the rule of gbitops and saving_percent
  double saving_percent = 0;            // against static at the schedule's upper bounds; gated: 8/8
  std::optional<double> training_seconds;  // measured, of the training steps
  std::vector<StageChange> stages;         // that its precision went through
  bool gated = false;                      // whether gates chose its bits
};

// Throws Error(usage) when the directory holds no run, or one that is not finished.
RunSummary read_run_summary(const std::filesystem::path& run_directory);

// The rule by which the runs' bit operations are counted, in a sentence.
std::string counting_note(const std::vector<RunSummary>& runs);
// Measured times are also given against the last run's, where there are several.
std::string summary_table(const std::vector<RunSummary>& runs);
// The changes of stage of the runs that had any; empty where none had.
std::string stages_text(const std::vector<RunSummary>& runs);
std::string summary_json(const std::vector<RunSummary>& runs);

}  // namespace bitcycle::cli
