#pragma once

// metrics.jsonl: what a run computed, a JSON object per line, the same for equal runs. First the
// run itself; then logged steps, evaluations, changes of stage, lost checkpoints. Written by a
// sink, read back by functions.

#include "bitcycle/events/event_sink.h"
#include "bitcycle/events/mean_of_choices.h"
#include "bitcycle/io/line_log.h"

#include <filesystem>
#include <optional>

namespace bitcycle {

class MetricsFile : public EventSink {
 public:
  // Where gates choose, the mean stands for the bits of the last step.
  explicit MetricsFile(const std::filesystem::path& run_directory, MeanOfChoices mean = {});

  std::string name() const override;
  void begin(const RunStart& start, std::uint64_t offset) override;
  void step(const StepReport& report) override;
  void evaluation(const EvaluationReport& report) override;
  void stage(const StageChange& change) override;
  void lost_best(const LostBestReport& report) override;
  std::uint64_t sync() override;

 private:
  std::filesystem::path path_;
  MeanOfChoices mean_;
  std::optional<LineLog> log_;
};

// Which run a directory's log is of (TrainState::run), from its first line. Throws
// Error(checkpoint).
std::string logged_run(const std::filesystem::path& run_directory);

struct LoggedEvaluation {
  Step step = 0;
  double value = 0;  // of the metric that was asked for
};

// The evaluations of a split within the first `length` bytes, in their order. Lines that cannot be
// read, or lack the metric, are passed over.
std::vector<LoggedEvaluation> logged_evaluations(const std::filesystem::path& run_directory,
                                                 const std::string& split,
                                                 const std::string& metric, std::uint64_t length);

// The changes of stage within the first `length` bytes, likewise.
std::vector<StageChange> logged_stages(const std::filesystem::path& run_directory,
                                       std::uint64_t length);

struct LoggedStep {
  Step step = 0;  // steps done
  double epoch = 0;
  LayerBits bits;  // of the last of them; where gates choose, means, rounded
  double gbitops = 0, gbitops_static = 0;
  // Where gates choose: the shares of the options, by block; else empty.
  std::vector<std::vector<double>> choices = {};
};

// The logged steps of the whole file, likewise.
std::vector<LoggedStep> logged_steps(const std::filesystem::path& run_directory);

}  // namespace bitcycle
