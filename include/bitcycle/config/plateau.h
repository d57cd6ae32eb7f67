#pragma once

// The part of the learning rate that follows from what training brings: lr_schedule.name =
// "plateau" lowers the rate whenever an evaluation brings no improvement.

#include <optional>

namespace bitcycle {

// The whole state of it, for checkpoints. The rate of a step is learning_rate() times `factor`.
struct PlateauState {
  std::optional<double> best;  // lowest loss so far
  double factor = 1.0;

  // After an evaluation: a loss strictly below the best is the new best; after any other, NaN
  // included, the rate is multiplied by `drop` (lr_schedule.factor).
  void observe(double loss, double drop);

  friend bool operator==(const PlateauState&, const PlateauState&) = default;
};

}  // namespace bitcycle
