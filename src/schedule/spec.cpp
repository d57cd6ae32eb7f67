#include "bitcycle/schedule/spec.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/nearest.h"
#include "bitcycle/schedule/compose.h"

#include "schedule/catalogue.h"
#include "schedule/expression.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle {
namespace {

[[noreturn]] void fail(const ScheduleSpec& spec, const std::string& what, const char* hint = "") {
  throw Error(ErrorCode::usage, fmt::format("schedule {}: {}", spec.name, what), hint);
}

void check_width(const ScheduleSpec& spec, const char* field, int bits) {
  if (bits == 0 && spec.name == "static") return;
  if (bits >= kMinBits && bits <= kMaxBits) return;
  fail(spec, fmt::format("{} must be {} to {} bits, found {}", field, kMinBits, kMaxBits, bits),
       bits == 0 ? "0 (float) is a width for static alone." : "");
}

void check_range(const ScheduleSpec& spec) {
  if (spec.min) return;
  throw Error(
      ErrorCode::usage,
      fmt::format("schedule {}: expected a range of bits to move in, found none", spec.name),
      fmt::format("Write \"{0} 3:8\", or {{ schedule = \"{0}\", min = 3, max = 8 }} in a "
                  "recipe; one width alone is static.",
                  spec.name));
}

void check(const ScheduleSpec& spec) {
  check_range(spec);
  check_width(spec, "min", *spec.min);
  check_width(spec, "max", spec.max);
  if (spec.name == "static" && spec.min != spec.max) {
    fail(spec, fmt::format("has one width, found min {} and max {}", *spec.min, spec.max),
         "Set both to the same width, or choose a cyclic schedule such as CR.");
  }
  if (!(0 <= spec.start && spec.start <= spec.end && spec.end <= 1)) {
    fail(spec, fmt::format("start and end must be fractions of the run, 0 <= start <= end <= 1, "
                           "found {} and {}",
                           spec.start, spec.end));
  }
}

Schedule make_part(const ScheduleSpec& spec, Step total) {
  const CatalogueEntry* entry = find_schedule(spec.name);
  if (entry == nullptr) {
    throw Error(ErrorCode::usage, fmt::format("unknown schedule \"{}\"", spec.name),
                suggest(spec.name, schedule_names()));
  }
  check(spec);
  Schedule schedule = entry->build(spec, total);
  if (spec.start > 0) schedule = delay(std::move(schedule), step_at(spec.start, total), *spec.min);
  if (spec.end < 1) schedule = hold(std::move(schedule), step_at(spec.end, total), spec.max);
  return schedule;
}

}  // namespace

Schedule make_schedule(const ScheduleSpec& spec, Step total) {
  if (total < 0) fail(spec, fmt::format("steps must not be negative, found {}", total));
  std::vector<Schedule> schedules;
  std::vector<Step> boundaries;
  Step begin = 0;
  for (const SchedulePart& part : parse_expression(spec)) {
    const Step end = step_at(part.until, total);
    if (!schedules.empty()) boundaries.push_back(begin);
    schedules.push_back(make_part(part.spec, end - begin));
    begin = end;
  }
  return join(std::move(schedules), std::move(boundaries));
}

Step epoch_count(Step total, Step steps_per_epoch) {
  return total / steps_per_epoch + (total % steps_per_epoch != 0 ? 1 : 0);
}

Schedule make_epoch_schedule(const ScheduleSpec& spec, Step total, Step steps_per_epoch) {
  if (steps_per_epoch < 1) {
    fail(spec, fmt::format("an epoch must have at least one step, found {}", steps_per_epoch));
  }
  return per_epoch(make_schedule(spec, epoch_count(total, steps_per_epoch)), steps_per_epoch);
}

WidthBounds width_bounds(const ScheduleSpec& spec) {
  WidthBounds bounds;
  for (const auto& [part, until] : parse_expression(spec)) {
    if (part.max == 0) {
      bounds.has_float = true;
      continue;
    }
    const int min = part.min.value_or(part.max);
    bounds.min = bounds.max == 0 ? min : std::min(bounds.min, min);
    bounds.max = std::max(bounds.max, part.max);
  }
  return bounds;
}

int max_bits(const ScheduleSpec& spec) {
  const WidthBounds bounds = width_bounds(spec);
  return bounds.has_float ? 0 : bounds.max;
}

bool is_float(const ScheduleSpec& spec) {
  return width_bounds(spec).max == 0;
}

}  // namespace bitcycle
