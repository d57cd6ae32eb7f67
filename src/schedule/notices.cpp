#include "bitcycle/schedule/notices.h"

#include "bitcycle/schedule/compose.h"

#include "schedule/catalogue.h"
#include "schedule/expression.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle {
namespace {

// Where a part of a schedule stands in the run.
struct Place {
  Step total = 0;  // of the part
  std::string_view unit;
  bool last = true;
};

std::string counted(Step count, std::string_view unit) {
  return fmt::format("{} {}", count, count == 1 ? unit.substr(0, unit.size() - 1) : unit);
}

// Triangular schedules alternate, and the first cycle falls: only an even number ends at the top.
bool ends_low(const ScheduleSpec& spec) {
  const auto kind = find_schedule(spec.name)->cycles;
  return kind && *kind != Cycles::repeated && spec.cycles % 2 == 1 && spec.end == 1;
}

bool crowded(const ScheduleSpec& spec, Step total) {
  return find_schedule(spec.name)->cycles.has_value() && spec.cycles >= total;
}

// The highest width of the part. Whatever climbs so slowly that a million steps do not show the
// upper bound is given the benefit of the doubt.
int highest(const ScheduleSpec& spec, Step total) {
  constexpr Step kLooked = 1'000'000;
  const Schedule schedule = make_schedule(spec, total);
  int bits = 0;
  for (Step t = 0; t < total && bits < spec.max; ++t) {
    if (t == kLooked) return spec.max;
    bits = std::max(bits, schedule.bits(t));
  }
  return bits;
}

void add_notices(std::vector<std::string>& notices, const ScheduleSpec& spec, const Place& place) {
  if (*spec.min == spec.max || place.total == 0) return;
  if (ends_low(spec)) {
    notices.push_back(
        fmt::format("an odd number of {} cycles ({}) ends {} at {} bits; an even number ends it at "
                    "{}",
                    spec.name, spec.cycles, place.last ? "the run" : "its part of the run",
                    *spec.min, spec.max));
  }
  const std::string length = counted(place.total, place.unit);
  if (crowded(spec, place.total)) {
    notices.push_back(
        fmt::format("{} of {} in {} leave no room to move within a cycle; take fewer cycles",
                    counted(spec.cycles, "cycles"), spec.name, length));
    return;
  }
  const int most = highest(spec, place.total);
  if (most == spec.max) return;
  notices.push_back(
      fmt::format("{} does not reach its upper bound of {} bits in {}, only {}; take {}a longer "
                  "run",
                  spec.name, spec.max, length, most,
                  find_schedule(spec.name)->cycles ? "fewer cycles or " : ""));
}

}  // namespace

std::vector<std::string> schedule_notices(const ScheduleSpec& spec, Step total,
                                          std::string_view unit) {
  std::vector<std::string> notices;
  Step begin = 0;
  for (const auto& [part, until] : parse_expression(spec)) {
    const Step end = step_at(until, total);
    add_notices(notices, part, {end - begin, unit, until == 1});
    begin = end;
  }
  return notices;
}

}  // namespace bitcycle
