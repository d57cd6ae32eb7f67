#pragma once

// Everything that a run directory holds for looking at, as far as it can be read. Files that are
// missing, damaged or half-written leave a notice, and the rest stands.

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/events/event_sink.h"

#include "report/view/log_lines.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle {

enum class RunState { finished, running, stopped, gone };

struct RunRecord {
  std::filesystem::path directory;
  RunState state = RunState::stopped;
  std::optional<Recipe> recipe;
  std::string recipe_text;
  nlohmann::ordered_json start;                     // metrics.jsonl's first line, or null
  std::vector<nlohmann::ordered_json> steps;        // of metrics.jsonl, their steps ascending
  std::vector<nlohmann::ordered_json> evaluations;  // likewise, made while training
  std::vector<StageChange> stages;
  std::vector<nlohmann::ordered_json> timing;  // of timing.jsonl, their steps ascending
  std::vector<nlohmann::ordered_json> layers;  // of layers.jsonl, likewise
  nlohmann::ordered_json summary;              // null until the run is finished
  nlohmann::ordered_json stored_evaluations;   // evaluations.json, or null
  std::vector<std::string> cut;  // files whose last line has no end: it may be on its way
  std::vector<std::string> notices;

  Step steps_done() const;
  // As far as it can be told; 0 steps where it cannot.
  RunLength length() const;
};

RunRecord read_run_record(const std::filesystem::path& run_directory);

// A member that is a number; nothing where it is missing, null or something else.
std::optional<double> number_in(const nlohmann::ordered_json& json, const std::string& name);
std::string text_in(const nlohmann::ordered_json& json, const std::string& name);
// A member that counts steps; 0 where it is none that a run could have.
Step step_in(const nlohmann::ordered_json& json, const std::string& name = "step");

}  // namespace bitcycle
