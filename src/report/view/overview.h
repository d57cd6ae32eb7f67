#pragma once

// The run at a glance: what it is, how far it has come, its score, cost, time and machine.

#include "report/view/run_record.h"

#include <nlohmann/json.hpp>

namespace bitcycle {

nlohmann::ordered_json overview(const RunRecord& record);

// What bit operations of the whole run would be in float for each one at static bits; 0 where that
// cannot be told.
double float_over_static(const Recipe& recipe);

}  // namespace bitcycle
