#pragma once

// Cyclic schedules: T steps cut into n cycles, each a profile between two bounds (Fu et al. 2021;
// Wolfe and Kyrillidis 2024). Repeated cycles all rise. Triangular ones alternate, and the first
// falls: training starts at the upper bound, and ends there when n is even.

#include "bitcycle/schedule/profile.h"

#include <string_view>

namespace bitcycle {

// How T steps are cut into n cycles (docs/schedules.md has what goes wrong with the papers' two).
enum class CycleLength {
  exact,           // phase (n t mod T) / T in integer arithmetic: n whole cycles, always
  floor,           // floor(T / n) steps: CPT; left-over steps open an extra cycle
  floor_plus_one,  // floor(T / n) + 1 steps: Better Schedules; the last cycle is cut short
};

// "exact", "floor", "floor_plus_one".
std::string_view name(CycleLength rule);
// The rule of that name; throws Error(usage) with the nearest one.
CycleLength parse_cycle_length(std::string_view text);

enum class Cycles {
  repeated,          // every cycle rises from min to max
  triangular_value,  // even cycles fall, mirrored in the value ("vertical")
  triangular_time,   // even cycles fall, mirrored in time ("horizontal")
};

struct CyclicOptions {
  double min = 3;
  double max = 8;
  int cycles = 8;
  Step steps = 0;  // T, of the whole run
  CycleLength cycle_length = CycleLength::exact;
};

// Where step t lies. Steps outside 0 .. T-1 are read as the nearest one inside, and T = 0 as T = 1.
// exact takes n > T (cycles are then skipped); floor has no cycle length for it and may not be
// asked.
Phase phase_at(Step t, const CyclicOptions& options);

// Throws Error(usage) when min > max, cycles < 1, steps < 0, or floor is asked for n > T.
// From step T on it keeps the value of step T-1. Equal bounds give a constant.
Schedule cyclic(Profile profile, Cycles cycles, const CyclicOptions& options);

}  // namespace bitcycle
