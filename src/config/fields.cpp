#include "config/fields.h"

#include <algorithm>

namespace bitcycle {

ScheduleTraits traits_of(const ScheduleSpec& spec) {
  const std::vector<std::string> names = schedule_names();
  if (std::ranges::find(names, spec.name) == names.end()) return {false, true, true, true};
  const bool fixed = spec.name == "static";
  return {.fixed = fixed,
          .cyclic = !fixed && spec.name != "progressive",
          .rex = spec.name.starts_with('R'),
          .exponential = spec.name.starts_with('E')};
}

}  // namespace bitcycle
