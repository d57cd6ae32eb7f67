#pragma once

// Everything a run carries from step to step besides tensors. It is saved in a checkpoint's
// state.json; the one field list below serves saving and restoring.

#include "bitcycle/config/gate_objective.h"
#include "bitcycle/config/plateau.h"
#include "bitcycle/config/precision_policy.h"
#include "bitcycle/events/metric.h"
#include "bitcycle/schedule/schedule.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace bitcycle {

struct TrainState {
  // Which run this is: a fingerprint of the recipe that it began with, as far as it decides what is
  // computed, and of the data. It follows from content alone, so equal runs are equal files.
  std::string run;
  std::string data;          // fingerprint of the data that it is trained on
  Step step = 0;             // steps done; also the position of the sampler
  double bitops = 0;         // spent so far
  double bitops_static = 0;  // what the same steps cost at the schedule's upper bound
  MetricSums window;         // since the last logged step
  ChoiceCounts choices;      // since the last logged step; empty without gates
  Step best_step = 0;        // 0: no evaluation yet
  double best_value = 0;     // of the task's primary metric
  Step lost_best_step = 0;   // of a best checkpoint that was damaged; 0: none was
  double lost_best_value = 0;
  bool evaluation_due = false;  // that of this step was cut short when the run was stopped
  PolicyState policy;
  PlateauState plateau;                          // of the learning rate
  std::optional<Step> averaged;                  // weights in the average; unset: none yet
  std::map<std::string, std::uint64_t> offsets;  // by sink, Note [Sinks that resume]

  // Calls visit(name, field) for every field.
  template <typename Self, typename Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("run", self.run);
    visit("data", self.data);
    visit("step", self.step);
    visit("bitops", self.bitops);
    visit("bitops_static", self.bitops_static);
    visit("window", self.window);
    visit("choices", self.choices);
    visit("best_step", self.best_step);
    visit("best_value", self.best_value);
    visit("lost_best_step", self.lost_best_step);
    visit("lost_best_value", self.lost_best_value);
    visit("evaluation_due", self.evaluation_due);
    visit("policy", self.policy);
    visit("plateau", self.plateau);
    visit("averaged", self.averaged);
    visit("offsets", self.offsets);
  }
};

std::string to_json(const TrainState& state);
// Throws Error(checkpoint) that names `origin` when the text is not the state of a run at `step`:
// another format, a field that is missing or of another type, a number that no run can have.
TrainState train_state_from_json(const std::string& text, const std::string& origin, Step step);

}  // namespace bitcycle
