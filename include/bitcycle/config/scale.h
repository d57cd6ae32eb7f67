#pragma once

// The same run in fewer steps. Everything that a recipe states as a fraction of the run (schedules,
// milestones, deadlines, cycles) scales by itself; what it states in steps is scaled here. A rate
// that falls on plateaus falls at evaluations, so these come oftener, as many as there were.

#include "bitcycle/config/recipe.h"

namespace bitcycle {

// 0 < scale <= 1. Every count that was positive stays at least 1.
Recipe scaled(Recipe recipe, double scale);

}  // namespace bitcycle
