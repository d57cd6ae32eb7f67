#pragma once

// How several runs compare: those that differ in nothing but their seeds are a group, with the
// spread of its scores; of the groups, those that no other beats at less cost are the front (the
// papers' figure of accuracy against cost), among those whose score is of the metric that most runs
// have. Runs of a sweep have its names, and are held against
// its baseline.

#include <nlohmann/json.hpp>

namespace bitcycle {

// Of the views of runs (run_view.h); null for fewer than two.
nlohmann::ordered_json comparison(const nlohmann::ordered_json& views);

}  // namespace bitcycle
