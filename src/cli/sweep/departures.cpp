#include "cli/sweep/departures.h"

#include "bitcycle/report/table.h"

#include <map>
#include <tuple>

#include <fmt/core.h>

namespace bitcycle::cli {

std::vector<Departure> departures(const SweepPlan& plan) {
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> counts;
  for (const PlannedCell& planned : plan.cells) {
    for (const auto& [key, in_file, here] :
         key_differences(planned.cell.stated, planned.cell.recipe)) {
      ++counts[{key, here, in_file}];
    }
  }
  std::vector<Departure> departures;
  for (const auto& [what, cells] : counts) {
    const auto& [key, here, in_file] = what;
    departures.push_back({key, here, in_file, cells});
  }
  return departures;
}

std::string departures_text(const std::vector<Departure>& departures, std::size_t cells) {
  if (departures.empty()) return "";
  Table table({"changed", "here", "in the file", "cells"});
  for (const Departure& departure : departures) {
    table.add_row({departure.key, departure.here, departure.in_file,
                   fmt::format("{} of {}", departure.cells, cells)});
  }
  return table.text();
}

nlohmann::ordered_json departures_json(const std::vector<Departure>& departures) {
  auto json = nlohmann::ordered_json::array();
  for (const Departure& departure : departures) {
    json.push_back({{"key", departure.key},
                    {"here", departure.here},
                    {"in_file", departure.in_file},
                    {"cells", departure.cells}});
  }
  return json;
}

}  // namespace bitcycle::cli
