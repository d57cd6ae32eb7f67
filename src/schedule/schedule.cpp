#include "bitcycle/schedule/schedule.h"

#include <cmath>

namespace bitcycle {

// nearbyint follows the rounding mode, which is to nearest-even unless a program changes it.
int Schedule::bits(Step step) const {
  return static_cast<int>(std::nearbyint(value(step)));
}

}  // namespace bitcycle
