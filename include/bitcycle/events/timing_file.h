#pragma once

// timing.jsonl: measured seconds, a line per logged step; the only file in which equal runs differ.

#include "bitcycle/events/event_sink.h"
#include "bitcycle/io/line_log.h"

#include <filesystem>
#include <optional>

namespace bitcycle {

class TimingFile : public EventSink {
 public:
  explicit TimingFile(const std::filesystem::path& run_directory);

  std::string name() const override;
  // A resumed run goes on after the last whole line, wherever the checkpoint stood: steps that are
  // repeated were measured twice, and the later line counts.
  void begin(const RunStart& start, std::uint64_t offset) override;
  void step(const StepReport& report) override;
  void stop(const StepReport& report) override;
  std::uint64_t sync() override;

 private:
  void append(const StepReport& report);

  std::filesystem::path path_;
  std::optional<LineLog> log_;
};

}  // namespace bitcycle
