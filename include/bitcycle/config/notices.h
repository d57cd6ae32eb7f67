#pragma once

// What a recipe allows and its author may not have meant.

#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/config/precision_plan.h"

#include <string>
#include <vector>

namespace bitcycle {

// What is worth telling before a run of that length starts, a line each, with the recipe's key.
std::vector<std::string> notices(const Recipe& recipe, const RunLength& length);

// Of gates: options that cost no less than static bits without gates would. Part of notices().
std::vector<std::string> gate_cost_notices(const DynamicPolicy& policy);

}  // namespace bitcycle
