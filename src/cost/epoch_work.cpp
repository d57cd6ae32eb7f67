#include "bitcycle/cost/epoch_work.h"

namespace bitcycle {
namespace {

// Of longer runs, steps are taken to be full: a list of all would not fit into memory.
constexpr Step kMostListedSteps = 10'000'000;

}  // namespace

std::vector<double> work_of_steps(const WorkOfBatches& work, Step steps, std::int64_t batches) {
  if (steps > kMostListedSteps) return {};
  std::vector<double> all;
  double before = 0;
  for (Step step = 1; step <= steps; ++step) {
    const std::optional<double> done = work(step * batches);
    if (!done) return {};
    all.push_back(*done - before);
    before = *done;
  }
  return all;
}

}  // namespace bitcycle
