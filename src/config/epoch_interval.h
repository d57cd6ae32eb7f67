#pragma once

// What happens every so many epochs of a run, and at its end.

#include "bitcycle/config/precision_policy.h"

#include <algorithm>
#include <cmath>

namespace bitcycle {

// In steps; 0: only at the end of the run.
inline Step epoch_interval(double epochs, Step steps_per_epoch) {
  if (epochs <= 0) return 0;
  return std::max<Step>(1, std::llround(epochs * static_cast<double>(steps_per_epoch)));
}

// `step` counts steps done.
inline bool is_due(double every_epochs, Step step, const RunLength& length) {
  const Step every = epoch_interval(every_epochs, length.steps_per_epoch);
  return step == length.steps || (every > 0 && step % every == 0);
}

}  // namespace bitcycle
