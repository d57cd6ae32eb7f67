#include "cli/schedule/schedule_option.h"

#include "bitcycle/base/error.h"

#include <fmt/core.h>

namespace bitcycle::cli {

namespace {

bool is_range(const std::string& bits) {
  const bool starts = !bits.empty() && bits.front() >= '0' && bits.front() <= '9';
  return starts && bits.find_first_of(":-") != bits.npos && bits.find(' ') == bits.npos;
}

}  // namespace

const char* option_names(const std::string& bits) {
  return is_range(bits) ? "--bits and --schedule" : "--bits";
}

ScheduleSpec schedule_option(const std::string& bits, const std::string& schedule, int cycles) {
  ScheduleSpec spec;
  spec.name = is_range(bits) ? fmt::format("{} {} x{}", schedule, bits, cycles) : bits;
  return spec;
}

Schedule checked_schedule(const char* option, const ScheduleSpec& spec, Step steps) {
  try {
    return make_schedule(spec, steps);
  } catch (const Error& error) {
    throw Error(error.code(), std::string(option) + ": " + error.what(), error.hint());
  }
}

}  // namespace bitcycle::cli
