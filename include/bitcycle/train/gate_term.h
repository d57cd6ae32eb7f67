#pragma once

// What the choices of a network's gates add to the loss of a batch: their cost, rewarded below the
// target and charged above it (config/gate_objective.h).

#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/models/gates.h"
#include "bitcycle/tasks/task.h"

namespace bitcycle {

// How many samples chose each option, by block.
ChoiceCounts count_choices(const GatesImpl& gates);

void add_choices(ChoiceCounts& to, const ChoiceCounts& from);
// What share of the samples chose each option.
std::vector<std::vector<double>> choice_shares(const ChoiceCounts& counts);

class GateTerm {
 public:
  // Both must outlive it.
  GateTerm(GatesImpl& gates, const DynamicPolicy& policy) : gates_(gates), policy_(policy) {}

  // Adds to the loss of the batch that the model has just run, and tells its metrics "cp" and
  // "total_loss". Lets go of the choices.
  void add_to(TaskLoss& result, Step step);
  // Of all batches since the last call, by block and option.
  ChoiceCounts take_counts() { return std::exchange(counts_, {}); }

 private:
  at::Tensor regulariser() const;

  GatesImpl& gates_;
  const DynamicPolicy& policy_;
  ChoiceCounts counts_;
};

}  // namespace bitcycle
