#pragma once

// The points of a landscape that is being made, one line each, in order. Killed at any moment, it
// goes on behind the last whole line; lines of other weights or settings, and damaged ones, do not
// count.

#include "bitcycle/io/line_log.h"
#include "bitcycle/landscape/landscape.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bitcycle {

class PointLog {
 public:
  // `landscape` has its subject, `scored` and `unit`, and gets the points that were logged before.
  // The folder of landscapes must be there. Throws Error(io).
  PointLog(const std::filesystem::path& run_directory, Landscape& landscape);

  // What was there and does not count, in words; empty where all does.
  const std::string& notice() const { return notice_; }

  // Adds the next point to the log and to the landscape; in the first, metrics get their names.
  void append(const std::vector<std::pair<std::string, double>>& metrics);
  // Once the landscape is stored.
  void remove();

 private:
  Landscape& landscape_;
  std::filesystem::path path_;
  std::string notice_;
  std::unique_ptr<LineLog> log_;
};

}  // namespace bitcycle
