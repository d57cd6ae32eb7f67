#pragma once

// timing.jsonl: measured seconds, a line per logged step; the only file in which equal runs differ.
// A line also says how many of its steps were at which bits, and what those took; the first of each
// process names the machine, and the directory that it was started in.

#include "bitcycle/events/event_sink.h"
#include "bitcycle/io/line_log.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

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
  struct StepsAtBits {
    std::int64_t steps = 0;
    double seconds = 0;
  };

  void count(const StepReport& report);
  void append(const StepReport& report);

  std::filesystem::path path_;
  std::optional<LineLog> log_;
  std::map<std::string, StepsAtBits> by_bits_;  // since the last line
  double counted_seconds_ = 0;                  // likewise
  bool machine_told_ = false;
};

// Where relative paths of a run's recipe count from; empty where its file does not tell.
std::filesystem::path started_in(const std::filesystem::path& run_directory);

}  // namespace bitcycle
