#pragma once

// A change of stage as JSON: a line of metrics.jsonl has it, and so has summary.json.

#include "bitcycle/events/event_sink.h"

#include <optional>

#include <nlohmann/json.hpp>

namespace bitcycle {

nlohmann::ordered_json to_json(const StageChange& change);
// None when this is no change of stage.
std::optional<StageChange> stage_from_json(const nlohmann::ordered_json& json);

}  // namespace bitcycle
