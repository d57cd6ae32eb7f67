#pragma once

// What a run came to, or how far it has come, read from its directory.

#include "bitcycle/config/recipe.h"
#include "bitcycle/cost/cost_model.h"
#include "bitcycle/events/event_sink.h"
#include "bitcycle/events/metric.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle::cli {

enum class SummaryState {
  finished,
  unfinished,  // stopped, killed, or still training
  failed,      // a sweep tried it, and it ended in an error
  unreadable,  // damaged, or no run at all
};

// What the averaged weights of a run came to.
struct AveragedScore {
  Step points = 0;  // that they are the mean of
  Measured test;
};

struct RunSummary {
  std::string run;  // directory
  SummaryState state = SummaryState::finished;
  std::string trouble;    // of failed and unreadable ones, in words
  Recipe recipe;          // not of unreadable ones
  Step step = 0;          // steps done, as far as logged or saved
  Step total = 0;         // of the run; 0: not known yet
  std::string precision;  // e.g. "CR 3-8/8"
  std::string backend;  // what carries it out, "" until it has begun; "float": nothing is quantized
  std::string scheme;   // that it is quantized in; "float" likewise
  Measured score;       // test, by the task's primary metric, of the best weights
  double gbitops = 0;
  Counting counting = Counting::paper;  // the rule of gbitops and saving_percent
  double saving_percent = 0;            // against static at the schedule's upper bounds; gated: 8/8
  std::optional<double> training_seconds;  // measured, of the training steps
  std::string machine;              // that they were measured on: "2 threads of AMD ..."; may be ""
  std::vector<StageChange> stages;  // that its precision went through
  bool gated = false;               // whether gates chose its bits
  std::optional<AveragedScore> averaged;
};

// Throws Error(usage) when the directory holds no run, or one that is not finished; Error(io) when
// a file of it is damaged.
RunSummary read_run_summary(const std::filesystem::path& run_directory);
// The same of whatever there is: unfinished, damaged and empty directories have states of their
// own.
RunSummary look_at_run(const std::filesystem::path& run_directory);

// The rule by which the runs' bit operations are counted, in a sentence.
std::string counting_note(const std::vector<RunSummary>& runs);
// A row for each of some finished runs.
std::string summary_table(const std::vector<RunSummary>& runs);
// The changes of stage of the runs that had any; empty where none had.
std::string stages_text(const std::vector<RunSummary>& runs);
// A line for each run that has averaged weights.
std::string averaged_text(const std::vector<RunSummary>& runs);

}  // namespace bitcycle::cli
