#include "schedule/check.h"

#include "bitcycle/base/error.h"

#include <fmt/format.h>

namespace bitcycle {

void check_bounds(double min, double max) {
  if (min <= max) return;
  throw Error(ErrorCode::usage, fmt::format("min must not exceed max, found {} and {}", min, max),
              "Exchange them, or set both to the same width.");
}

}  // namespace bitcycle
