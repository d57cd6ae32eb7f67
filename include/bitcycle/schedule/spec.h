#pragma once

// A schedule by name and numbers, as a recipe or a command line states it. docs/schedules.md has
// every name with its formula, picture and cost.

#include "bitcycle/schedule/cyclic.h"
#include "bitcycle/schedule/schedule.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

inline constexpr int kMinBits = 1;
inline constexpr int kMaxBits = 32;

// `name` is one of schedule_names(), or an expression that also states numbers, which then count in
// place of the fields below: a name, a width or MIN:MAX, xCYCLES; several, joined by commas, each
// but the last with `until` and a fraction of the run:
//
//   "CR 3:8 x32"     "8" (static)     "3:8" (CR)     "static 4 until 0.5, CR 3:8 x4"     "static
//   fp"
//
// Joined parts count their own steps, and each stretches its cycles over its own part of the run.
struct ScheduleSpec {
  std::string name = "static";
  // Bits, 1 to 32; 0 means float and is allowed for static alone. Unset: static is at max, and
  // every other schedule is refused, because it needs a range to move in.
  std::optional<int> min;
  int max = 8;     // at least min; for static the same
  int cycles = 8;  // cyclic schedules, at least 1
  CycleLength cycle_length = CycleLength::exact;
  double beta = 0.9;  // REX (R..), at least 0 and below 1
  double rate = 4.0;  // exponential (E..), above 0
  // Fraction of the run, rounded to a step, that stays at `min`; the cycles after it keep the phase
  // that they would have had. Progressive: where the first level begins.
  double start = 0.0;
  // Fraction of the run from which `max` is held, start <= end <= 1; 1 means never. Progressive:
  // where the last level ends.
  double end = 1.0;
};

// Every name ScheduleSpec accepts, in the order in which help lists them.
std::vector<std::string> schedule_names();
// One line on the schedule of that name, or "" when there is none.
std::string_view describe_schedule(std::string_view name);

// Throws Error(usage) when a number is out of range or the name is unknown (nearest name in the
// hint). `total` is the number of steps of the run; past it the schedule keeps its last value
// (progressive: max).
Schedule make_schedule(const ScheduleSpec& spec, Step total);

// The epochs that `total` steps take, the last one perhaps begun only; steps_per_epoch >= 1.
Step epoch_count(Step total, Step steps_per_epoch);
// The same as make_schedule, built over the epochs of the run and advancing once in each.
Schedule make_epoch_schedule(const ScheduleSpec& spec, Step total, Step steps_per_epoch);

// The bounds of a schedule over all parts of an expression.
struct WidthBounds {
  int min = 0;  // of the parts that are quantized; 0 when none is
  int max = 0;
  bool has_float = false;  // whether a part is in float
};
WidthBounds width_bounds(const ScheduleSpec& spec);
// The upper bound alone: 0 (float) if any part is float.
int max_bits(const ScheduleSpec& spec);
// Whether all of it is in float.
bool is_float(const ScheduleSpec& spec);

}  // namespace bitcycle
