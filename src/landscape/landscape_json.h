#pragma once

// How a landscape's subject and points are written in JSON, for the finished file and for the log
// of points alike.

#include "bitcycle/landscape/landscape.h"

#include <optional>

#include <nlohmann/json.hpp>

namespace bitcycle {

nlohmann::ordered_json to_json(const LandscapeSubject& subject);
// Nothing where a member is missing, of another kind or impossible.
std::optional<LandscapeSubject> subject_from_json(const nlohmann::ordered_json& json);

// A value of JSON that stands for a number: null is one that is not finite.
std::optional<double> value_from_json(const nlohmann::ordered_json& json);

}  // namespace bitcycle
