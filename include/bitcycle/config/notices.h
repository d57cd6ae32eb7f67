#pragma once

// What a recipe allows and its author may not have meant.

#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/cost/cost_model.h"
#include "bitcycle/network/network.h"

#include <string>
#include <vector>

namespace bitcycle {

// What is worth telling before a run of that length starts, a line each, with the recipe's key.
std::vector<std::string> notices(const Recipe& recipe, const RunLength& length);

// Of gates: targets that their options cannot reach. Part of notices(), and told to those who want
// no narration as well.
std::vector<std::string> target_notices(const Recipe& recipe);

// Of gates: options that cost no less than static bits without gates would, by that rule. Part of
// notices(), by the rule of training.
std::vector<std::string> gate_cost_notices(const DynamicPolicy& policy, Counting rule);

// Of pictures: a batch norm that sees too few values in a batch. Not part of notices(), since only
// the data tell the size of the pictures.
std::vector<std::string> norm_notices(const Network& network, std::int64_t batch);

}  // namespace bitcycle
