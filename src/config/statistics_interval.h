#pragma once

// How often a run looks at its layers: as its recipe says, else about 200 times, and so far apart
// that it costs little of a short run.

#include "bitcycle/config/recipe.h"
#include "bitcycle/schedule/schedule.h"

#include <algorithm>

namespace bitcycle {

inline constexpr Step kStatisticsLooks = 200;
// The fewest steps between two looks, unless a recipe says otherwise.
inline constexpr Step kStatisticsApart = 200;

inline Step statistics_interval(const Recipe& recipe, Step total) {
  return recipe.statistics_every.value_or(std::max(kStatisticsApart, total / kStatisticsLooks));
}

}  // namespace bitcycle
