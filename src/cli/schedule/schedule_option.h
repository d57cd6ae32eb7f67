#pragma once

// Widths on a command line: "3:8" moves as --schedule says; anything else is a schedule expression
// and speaks for itself ("8", "fp", "CR 3:8 x4").

#include "bitcycle/schedule/spec.h"

#include <string>

namespace bitcycle::cli {

ScheduleSpec schedule_option(const std::string& bits, const std::string& schedule, int cycles);

// The options that the value of --bits depends on.
const char* option_names(const std::string& bits);

// Errors name the option whose value was wrong.
Schedule checked_schedule(const char* option, const ScheduleSpec& spec, Step steps);

}  // namespace bitcycle::cli
