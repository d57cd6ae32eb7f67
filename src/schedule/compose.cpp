#include "bitcycle/schedule/compose.h"

#include "schedule/check.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bitcycle {
namespace {

// `before` until step `at`, then `after`; both are asked for the step of the run.
Schedule splice(Schedule before, Step at, Schedule after) {
  return Schedule([=](Step t) { return t < at ? before.value(t) : after.value(t); });
}

}  // namespace

Step step_at(double fraction, Step total) {
  return std::llround(fraction * static_cast<double>(total));
}

Schedule constant(double bits) {
  return Schedule([bits](Step) { return bits; });
}

Schedule progressive(int min, int max, Step first, Step last) {
  check_bounds(min, max);
  assert(0 <= first && first <= last);
  return Schedule([=](Step t) {
    if (t >= last) return static_cast<double>(max);
    if (t < first) return static_cast<double>(min);
    const Step levels = max - min + 1;
    return static_cast<double>(min + levels * (t - first) / (last - first));
  });
}

Schedule delay(Schedule schedule, Step start, double bits) {
  return splice(constant(bits), start, std::move(schedule));
}

Schedule hold(Schedule schedule, Step from, double bits) {
  return splice(std::move(schedule), from, constant(bits));
}

Schedule hold(Schedule schedule, Step from) {
  const double bits = schedule.value(from);
  return hold(std::move(schedule), from, bits);
}

Schedule clamp(Schedule schedule, double min, double max) {
  check_bounds(min, max);
  return Schedule([=](Step t) {
    const double value = schedule.value(t);
    return value == 0 ? value : std::clamp(value, min, max);
  });
}

Schedule join(std::vector<Schedule> parts, std::vector<Step> boundaries) {
  assert(parts.size() == boundaries.size() + 1);
  assert(std::is_sorted(boundaries.begin(), boundaries.end()));
  return Schedule([parts = std::move(parts), boundaries = std::move(boundaries)](Step t) {
    const auto next = std::upper_bound(boundaries.begin(), boundaries.end(), t);
    const auto part = static_cast<std::size_t>(next - boundaries.begin());
    return parts[part].value(part == 0 ? t : t - boundaries[part - 1]);
  });
}

Schedule per_epoch(Schedule over_epochs, Step steps_per_epoch) {
  assert(steps_per_epoch >= 1);
  return Schedule([=](Step t) { return over_epochs.value(t / steps_per_epoch); });
}

}  // namespace bitcycle
