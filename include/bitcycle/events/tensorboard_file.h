#pragma once

// An event file for TensorBoard beside metrics.jsonl, the same for equal runs: metrics, learning
// rate, bits, cost and evaluations as scalars; of the layers that are looked at ranges and
// signal-to-noise ratios as scalars, and at every fifth look histograms of their codes; the recipe
// and changes of stage as texts. A run does without it where it cannot be written.
//
//   tensorboard --logdir runs

#include "bitcycle/events/event_sink.h"
#include "bitcycle/events/mean_of_choices.h"
#include "bitcycle/io/append_file.h"

#include <filesystem>
#include <optional>

namespace bitcycle {

class SummaryMessage;

class TensorBoardFile : public EventSink {
 public:
  // TensorBoard takes files with "tfevents" in their names.
  static constexpr const char* kName = "events.out.tfevents.bitcycle";

  // Where gates choose, the mean stands for the bits of the last step.
  explicit TensorBoardFile(const std::filesystem::path& run_directory, MeanOfChoices mean = {});

  std::string name() const override { return kName; }
  Importance importance() const override { return Importance::dispensable; }
  void begin(const RunStart& start, std::uint64_t offset) override;
  void step(const StepReport& report) override;
  void layers(const LayerReport& report) override;
  void evaluation(const EvaluationReport& report) override;
  void stage(const StageChange& change) override;
  std::uint64_t sync() override;

 private:
  void append(Step step, const SummaryMessage& summary);

  std::filesystem::path path_;
  MeanOfChoices mean_;
  std::optional<AppendFile> file_;
};

}  // namespace bitcycle
