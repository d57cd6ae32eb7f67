#pragma once

// How many samples or tokens the steps of a run have. Epochs follow each other, and the last batch
// of each may be smaller than the others, while the bits move on: a run's cost is that of its bits
// only where every step counts with what it really had.

#include "bitcycle/schedule/schedule.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace bitcycle {

// Samples, of a text tokens.
struct EpochWork {
  std::int64_t batches = 1;  // of an epoch
  std::int64_t whole = 0;    // of an epoch
  std::int64_t batch = 0;    // of all batches but the last

  // Of so many batches from the first on.
  double of_batches(std::int64_t count) const {
    return static_cast<double>(count / batches * whole + count % batches * batch);
  }
};

// Nothing where it is not known.
using WorkOfBatches = std::function<std::optional<double>(std::int64_t)>;

// Of each step, which takes so many batches; empty where it is not known.
std::vector<double> work_of_steps(const WorkOfBatches& work, Step steps, std::int64_t batches);

}  // namespace bitcycle
