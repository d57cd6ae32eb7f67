#pragma once

// Checks that several schedules share.

namespace bitcycle {

// Throws Error(usage) unless min <= max.
void check_bounds(double min, double max);

}  // namespace bitcycle
