#pragma once

// A schedule by name and numbers, as a recipe or a command line states it.

#include <optional>
#include <string>
#include <vector>

#include "bitcycle/schedule/schedule.h"

namespace bitcycle {

// How T steps are cut into n cycles (docs/schedules.md has what goes wrong with the papers' two).
enum class CycleLength {
  exact,           // phase (n t mod T) / T in integer arithmetic: n whole cycles, always
  floor,           // floor(T / n) steps: CPT; left-over steps open an extra cycle
  floor_plus_one,  // floor(T / n) + 1 steps: Better Schedules; the last cycle is cut short
};

struct ScheduleSpec {
  std::string name = "static";  // static, CR ... RTH, cosine, triangular, anneal, progressive
  int min = 8;                  // bits; 0 means float and is allowed for static alone
  int max = 8;
  int cycles = 8;               // cyclic schedules; progressive: ignored
  CycleLength cycle_length = CycleLength::exact;
  double beta = 0.9;            // REX
  double rate = 4.0;            // exponential
  double start = 0.0;           // fraction of the run that stays at `min` before the schedule begins
  double end = 1.0;             // fraction of the run from which `max` is held
};

// Every name ScheduleSpec accepts, in the order in which help lists them.
std::vector<std::string> schedule_names();

// Throws Error(usage) when a number is out of range or the name is unknown (nearest name in the
// hint). `total` is the number of steps of the run.
Schedule make_schedule(const ScheduleSpec& spec, Step total);

}  // namespace bitcycle
