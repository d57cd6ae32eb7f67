#pragma once

// What --set and --scale have changed of a sweep's cells, so that nobody takes a run on other data,
// or of another length or scheme, for the one that the file describes.

#include "cli/sweep/sweep_plan.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle::cli {

// A key that `cells` of the plan's cells have another value of than the file gives them.
struct Departure {
  std::string key, here, in_file;
  std::size_t cells = 0;
};

// By key; one for each pair of values.
std::vector<Departure> departures(const SweepPlan& plan);

// "" where there are none.
std::string departures_text(const std::vector<Departure>& departures, std::size_t cells);
nlohmann::ordered_json departures_json(const std::vector<Departure>& departures);

}  // namespace bitcycle::cli
