#pragma once

// Everything a run carries from step to step besides tensors. It is saved in a checkpoint's
// state.json; the one field list below serves saving and restoring.

#include "bitcycle/schedule/schedule.h"

#include <cstdint>
#include <string>

namespace bitcycle {

struct TrainState {
  Step step = 0;             // steps done; also the position of the sampler
  double bitops = 0;         // spent so far
  double bitops_static = 0;  // what the same steps cost at the schedule's upper bound
  double window_loss = 0;    // sums since the last logged step
  std::int64_t window_correct = 0;
  std::int64_t window_samples = 0;
  Step window_steps = 0;
  Step best_step = 0;  // 0: no evaluation yet
  double best_accuracy = 0;
  std::uint64_t metrics_offset = 0;  // length of metrics.jsonl at this point

  // Calls visit(name, field) for every field.
  template <typename Self, typename Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("step", self.step);
    visit("bitops", self.bitops);
    visit("bitops_static", self.bitops_static);
    visit("window_loss", self.window_loss);
    visit("window_correct", self.window_correct);
    visit("window_samples", self.window_samples);
    visit("window_steps", self.window_steps);
    visit("best_step", self.best_step);
    visit("best_accuracy", self.best_accuracy);
    visit("metrics_offset", self.metrics_offset);
  }
};

std::string to_json(const TrainState& state);
// Throws Error(checkpoint) that names `origin`.
TrainState train_state_from_json(const std::string& text, const std::string& origin);

}  // namespace bitcycle
