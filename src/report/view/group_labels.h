#pragma once

// What a page calls groups of runs: as the sweep does that they belong to, else by their precision,
// with whatever else tells them apart.

#include "bitcycle/base/statistics.h"

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle {

// Runs that differ in nothing but their seeds, by their places among the views.
struct RunsOfGroup {
  std::vector<std::size_t> runs;
  std::vector<std::size_t> counted;  // whose figures are averaged
  std::vector<SeededValue> scores;
};

// Whether the runs' overviews agree in a member.
bool all_same(const nlohmann::ordered_json& views, const char* name);

std::vector<std::string> labels_of(const nlohmann::ordered_json& views,
                                   const std::vector<RunsOfGroup>& groups);
// Of the group that a sweep holds this run's against; "" without a sweep.
std::string baseline_label(const nlohmann::ordered_json& views, const nlohmann::ordered_json& view);

}  // namespace bitcycle
