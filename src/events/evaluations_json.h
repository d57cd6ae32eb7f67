#pragma once

// The content of evaluations.json, for those who have read it already. Private.

#include "bitcycle/events/evaluations_file.h"

#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle {

// Whether it is as `eval` writes it, every entry an evaluation.
bool holds_evaluations(const nlohmann::ordered_json& json);
// What is no evaluation is passed over.
std::vector<StoredEvaluation> evaluations_in(const nlohmann::ordered_json& json);

}  // namespace bitcycle
