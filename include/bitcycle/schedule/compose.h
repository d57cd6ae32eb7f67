#pragma once

// Small schedules and the ways of making larger ones. Every function returns a new value and leaves
// its arguments alone. Bounds with min > max are Error(usage).

#include "bitcycle/schedule/schedule.h"

#include <vector>

namespace bitcycle {

// The whole step nearest to a fraction of a run of `total` steps.
Step step_at(double fraction, Step total);

// The same width at every step; 0 means float.
Schedule constant(double bits);

// Whole widths min, min + 1, ..., max, each for an equal share of the steps from `first` to `last`;
// min before, max from `last` on (also when first == last). 0 <= first <= last.
Schedule progressive(int min, int max, Step first, Step last);

// `bits` before step `start`, the schedule from there on, in the phase it would have had anyway.
Schedule delay(Schedule schedule, Step start, double bits);

// The schedule before step `from`, and `bits` from there on.
Schedule hold(Schedule schedule, Step from, double bits);
// The same with the value that the schedule has at step `from`.
Schedule hold(Schedule schedule, Step from);

// The schedule's value, but never below min nor above max. Float (0) stays float.
Schedule clamp(Schedule schedule, double min, double max);

// One schedule after another. Part i begins at step boundaries[i - 1] and counts its own steps from
// 0 there. Needs one boundary fewer than parts, none below its predecessor; of parts that begin at
// the same step the last one counts.
Schedule join(std::vector<Schedule> parts, std::vector<Step> boundaries);

// A schedule over epochs, for use at steps: advances once in `steps_per_epoch` (>= 1) steps.
Schedule per_epoch(Schedule over_epochs, Step steps_per_epoch);

}  // namespace bitcycle
