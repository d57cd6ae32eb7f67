#pragma once

// The schedules that have a name: what each is, and how it is built from a ScheduleSpec.

#include "bitcycle/schedule/spec.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bitcycle {

struct CatalogueEntry {
  std::string name;
  std::string about;
  std::optional<Cycles> cycles;  // how they follow one another; unset: not cyclic
  std::function<Schedule(const ScheduleSpec&, Step total)> build;  // of a spec with both bounds
};

// The entry of that name, or nullptr.
const CatalogueEntry* find_schedule(std::string_view name);

}  // namespace bitcycle
