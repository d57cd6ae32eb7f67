#pragma once

// Says when the loss has settled: the indicator of FracTrain's progressive quantization (Fu et al.,
// NeurIPS 2020, algorithm 1), as its code has it. It is told the mean loss of every period, an
// epoch as a rule. Once a window of them is full, the newest loss is compared with each of the
// others; the largest difference, divided by the mean of the first losses of the run, is held
// against a threshold:
//
//   d = max over the window of |x - newest| / scale <= threshold
//
// is a turning point. The next stage has a smaller threshold and a window of its own. What a stage
// is, bits or a target, is the business of who asks.

#include <cstdint>
#include <optional>
#include <vector>

namespace bitcycle {

struct LossIndicatorOptions {
  double epsilon = 0.05;   // the first threshold
  double alpha = 0.3;      // what it is multiplied by at the first two turning points
  int window = 5;          // periods that are compared, at least 2
  int normalising = 10;    // the scale is the mean of so many first losses; 0: it is 1
  int turning_points = 3;  // after so many the indicator rests
};

// All that it carries from period to period.
struct LossIndicatorState {
  int stage = 0;               // turning points so far
  std::vector<double> window;  // losses of this stage, the newest last
  double norm_sum = 0;         // of the first losses of the run
  std::int64_t norm_count = 0;

  bool operator==(const LossIndicatorState&) const = default;
};

// What was measured at a turning point.
struct TurningPoint {
  std::optional<double> difference;  // none while the window is not full
  double threshold = 0;
};

class LossIndicator {
 public:
  explicit LossIndicator(const LossIndicatorOptions& options, LossIndicatorState state = {});

  // Takes the loss of a period, a finite number.
  std::optional<TurningPoint> observe(double loss);
  // Goes to the next stage whatever the loss does. Not once it rests.
  TurningPoint turn();

  bool rests() const { return state_.stage >= options_.turning_points; }
  int stage() const { return state_.stage; }
  double threshold() const { return threshold_of(state_.stage); }
  // The threshold of a stage.
  double threshold_of(int stage) const;
  double scale() const;
  // Of the window as it is, in units of the scale.
  std::optional<double> difference() const;
  const LossIndicatorState& state() const { return state_; }

 private:
  LossIndicatorOptions options_;
  LossIndicatorState state_;
};

}  // namespace bitcycle
