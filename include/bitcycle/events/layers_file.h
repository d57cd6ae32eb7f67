#pragma once

// layers.jsonl: ranges and quantization errors of the quantized layers, a line per step that was
// looked at, the same for equal runs:
//
//   {"step": 320, "layers": {"conv1": {"weight": {"bits": 4, "low": -0.31, "high": 0.29,
//    "sqnr_db": 21.4}, "activation": {…}, "error": {…}}, …}}
//
// A role in float is absent; a ratio that is not finite (nothing was lost, or nothing was there) is
// null. A run does without it where it cannot be written.

#include "bitcycle/events/event_sink.h"
#include "bitcycle/io/line_log.h"

#include <filesystem>
#include <optional>

namespace bitcycle {

class LayersFile : public EventSink {
 public:
  explicit LayersFile(const std::filesystem::path& run_directory);

  std::string name() const override;
  Importance importance() const override { return Importance::dispensable; }
  void begin(const RunStart& start, std::uint64_t offset) override;
  void layers(const LayerReport& report) override;
  std::uint64_t sync() override;

 private:
  std::filesystem::path path_;
  std::optional<LineLog> log_;
};

}  // namespace bitcycle
