#pragma once

// A run's events as lines on the terminal: the live line, evaluations, warnings.

#include "bitcycle/events/event_sink.h"
#include "bitcycle/report/live_line.h"

namespace bitcycle::cli {

// Warnings are also for those who want no narration.
enum class Narration { all, warnings };

class TerminalSink : public EventSink {
 public:
  TerminalSink(LiveLine& line, Narration narration) : line_(line), narration_(narration) {}

  std::string name() const override { return "terminal"; }
  void step(const StepReport& report) override;
  void evaluating(const EvaluationStart& start) override;
  void evaluation(const EvaluationReport& report) override;
  void stage(const StageChange& change) override;
  void lost_best(const LostBestReport& report) override;
  void lost_sink(const LostSinkReport& report) override;

 private:
  std::string time_left(const StepReport& report) const;

  LiveLine& line_;
  Narration narration_;
  int told_ = 0;  // steps of this process
};

}  // namespace bitcycle::cli
