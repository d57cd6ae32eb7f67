#pragma once

// What a run costs besides bit operations, beside the same run at static bits.

#include "cli/cost/step_cost.h"

#include <string>

namespace bitcycle::cli {

struct Total {
  Bounds run;
  double fixed = 0;  // of a static run
};

std::string other_totals_text(const Total& normalised_macs, const Total& joules);

}  // namespace bitcycle::cli
