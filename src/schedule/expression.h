#pragma once

// Schedule expressions: "static 4 until 0.5, CR 3:8 x4". ScheduleSpec (spec.h) has the grammar.

#include "bitcycle/schedule/spec.h"

#include <vector>

namespace bitcycle {

struct SchedulePart {
  ScheduleSpec spec;   // with a plain name; min is unset only where a range is missing
  double until = 1.0;  // fraction of the run at which the part ends
};

// Reads spec.name; what it does not state comes from the other fields. At least one part; the
// fractions rise, and the last is 1. Throws Error(usage) that quotes what cannot be read.
std::vector<SchedulePart> parse_expression(const ScheduleSpec& spec);

}  // namespace bitcycle
