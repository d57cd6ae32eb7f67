#pragma once

// What a recipe allows and its author may not have meant.

#include "bitcycle/config/precision_plan.h"

#include <string>
#include <vector>

namespace bitcycle {

// What is worth telling before a run of that length starts, a line each, with the recipe's key.
std::vector<std::string> notices(const Recipe& recipe, const RunLength& length);

}  // namespace bitcycle
