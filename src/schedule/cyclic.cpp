#include "bitcycle/schedule/cyclic.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/nearest.h"

#include "schedule/check.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr CycleLength kRules[] = {CycleLength::exact, CycleLength::floor,
                                  CycleLength::floor_plus_one};

void check(const CyclicOptions& options) {
  const auto [min, max, cycles, steps, rule] = options;
  check_bounds(min, max);
  if (cycles < 1) {
    throw Error(ErrorCode::usage, fmt::format("cycles must be at least 1, found {}", cycles));
  }
  if (steps < 0) {
    throw Error(ErrorCode::usage, fmt::format("steps must not be negative, found {}", steps));
  }
  if (rule == CycleLength::floor && cycles > std::max<Step>(steps, 1)) {
    throw Error(ErrorCode::usage,
                fmt::format("{} cycles of floor(steps / cycles) steps do not fit into {} steps",
                            cycles, steps),
                "Take fewer cycles, or cycle_length = exact.");
  }
}

}  // namespace

std::string_view name(CycleLength rule) {
  switch (rule) {
    case CycleLength::exact:
      return "exact";
    case CycleLength::floor:
      return "floor";
    case CycleLength::floor_plus_one:
      return "floor_plus_one";
  }
  return "unknown";
}

CycleLength parse_cycle_length(std::string_view text) {
  std::vector<std::string> names;
  for (CycleLength rule : kRules) {
    if (name(rule) == text) return rule;
    names.emplace_back(name(rule));
  }
  throw Error(ErrorCode::usage, fmt::format("unknown cycle length \"{}\"", text),
              suggest(text, names));
}

Phase phase_at(Step t, const CyclicOptions& options) {
  const Step total = std::max<Step>(options.steps, 1);
  t = std::clamp<Step>(t, 0, total - 1);
  if (options.cycle_length == CycleLength::exact) {
    const __int128 scaled = static_cast<__int128>(t) * options.cycles;
    return {static_cast<Step>(scaled / total), static_cast<Step>(scaled % total), total};
  }
  const Step extra = options.cycle_length == CycleLength::floor_plus_one ? 1 : 0;
  const Step length = total / options.cycles + extra;
  return {t / length, t % length, length};
}

Schedule cyclic(Profile profile, Cycles cycles, const CyclicOptions& options) {
  check(options);
  return Schedule([=, profile = std::move(profile)](Step t) {
    const Phase phase = phase_at(t, options);
    const bool rises = cycles == Cycles::repeated || phase.cycle % 2 == 1;
    if (rises) return between(profile, options.min, options.max, phase);
    if (cycles == Cycles::triangular_time) {
      return between(profile, options.min, options.max, phase, Time::mirrored);
    }
    return between(profile, options.max, options.min, phase);
  });
}

}  // namespace bitcycle
