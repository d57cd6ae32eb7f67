#pragma once

// What the cells of a sweep will ask for in vain. A cell without its data fails when its turn
// comes, which may be hours after the first one began.

#include "cli/sweep/sweep_plan.h"

#include <string>
#include <vector>

namespace bitcycle::cli {

// A sentence for each dataset that cells which are not finished need, and that is not there.
std::vector<std::string> missing_data(const SweepPlan& plan);

}  // namespace bitcycle::cli
