#pragma once

// How numbers are written in tables, in one place, so that two tables never write one figure in two
// ways. Durations are readable_duration (live_line.h), schedules precision_text.h.

#include "bitcycle/base/statistics.h"
#include "bitcycle/events/metric.h"
#include "bitcycle/schedule/schedule.h"

#include <optional>
#include <string>

namespace bitcycle {

// "36.9 %"
std::string percent_text(double percent);
// What a part is of the whole: "63.1 %".
std::string share_text(double part, double whole);
// Operations, energies: four digits, "1.765e+05", "32.57".
std::string amount_text(double amount);
// A width in bits: "8", "fp" for 0.
std::string bits_text(int bits);
// "step 400 of 800", "step 400" where nobody knows the length.
std::string steps_text(Step step, Step total);

// "87.52 %", "not finite".
std::string score_text(const Measured& score);
// A distance between scores in their unit, without naming it: "0.31".
std::string score_distance(const Metric& metric, double distance);
// "87.52 % ± 0.18", the standard error of the mean where it is known.
std::string spread_text(const Metric& metric, const Spread& spread);
// "+0.42 ± 0.13", the standard error where it is known.
std::string difference_text(const Metric& metric, const Difference& difference);

}  // namespace bitcycle
