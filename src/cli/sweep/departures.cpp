#include "cli/sweep/departures.h"

#include "bitcycle/report/table.h"

#include <map>
#include <set>
#include <tuple>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;
using Keys = std::map<std::string, std::string>;

std::string value_of(const Keys& keys, const std::string& key) {
  const auto found = keys.find(key);
  return found == keys.end() || found->second.empty() ? "unset" : found->second;
}

}  // namespace

std::vector<Departure> departures(const SweepPlan& plan) {
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> counts;
  for (const PlannedCell& planned : plan.cells) {
    const Keys here = result_keys(planned.cell.recipe), in_file = result_keys(planned.cell.stated);
    std::set<std::string> keys;
    for (const auto& [key, value] : here) keys.insert(key);
    for (const auto& [key, value] : in_file) keys.insert(key);
    for (const std::string& key : keys) {
      const std::string now = value_of(here, key), then = value_of(in_file, key);
      if (now != then) ++counts[{key, now, then}];
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

Json departures_json(const std::vector<Departure>& departures) {
  Json json = Json::array();
  for (const Departure& departure : departures) {
    json.push_back({{"key", departure.key},
                    {"here", departure.here},
                    {"in_file", departure.in_file},
                    {"cells", departure.cells}});
  }
  return json;
}

}  // namespace bitcycle::cli
