#pragma once

// What a schedule allows over a run of a given length and its author may not have meant.

#include "bitcycle/schedule/spec.h"

#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

// A line for each part that ends low, has no room for its cycles, or never reaches its upper bound.
// `total` counts how often the schedule advances in the run, `unit` names it ("steps", "epochs").
// The spec is one that make_schedule() takes.
std::vector<std::string> schedule_notices(const ScheduleSpec& spec, Step total,
                                          std::string_view unit);

}  // namespace bitcycle
