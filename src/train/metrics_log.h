#pragma once

// Reads back what a run wrote into metrics.jsonl.

#include "bitcycle/schedule/schedule.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bitcycle {

// Which run the log is of (TrainState::run), from its first line. Throws Error(checkpoint).
std::string logged_run(const std::filesystem::path& metrics);

struct LoggedEvaluation {
  Step step = 0;
  std::string split;
  double accuracy = 0;
};

// The evaluations of a split within the first `length` bytes, in their order. Lines that cannot be
// read are passed over.
std::vector<LoggedEvaluation> logged_evaluations(const std::filesystem::path& metrics,
                                                 const std::string& split, std::uint64_t length);

}  // namespace bitcycle
