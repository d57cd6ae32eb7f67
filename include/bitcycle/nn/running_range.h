#pragma once

// The range of an input, averaged over training steps, in buffers of a module. All calls of a step
// move it once, by the union of their ranges.

#include "bitcycle/kernels/range.h"
#include "bitcycle/quant/scheme.h"
#include "bitcycle/quant/torch.h"

#include <optional>

namespace bitcycle {

class RunningRange {
 public:
  // Registers the buffers on the module whose input it is.
  void register_on(torch::nn::Module& module, const at::TensorOptions& options = {});
  void begin_step() { step_.reset(); }

  // The range to quantize an input over, given how to find its own: in training its own, which also
  // moves the average (after every call it stands where the step's calls so far move it); in
  // evaluation the average. A model that was never trained quantizes over its input's own range.
  template <typename FindRange>
  Range of_input(const FindRange& own_range, bool training) {
    if (!training && tracks()) return average();
    const Range range = own_range();
    if (training) track(range);
    return range;
  }

  RangeStart start = RangeStart::first_batch;
  RangeAverage weights;

 private:
  // Whether any training step has moved it yet.
  bool tracks() const;
  Range average() const;
  void track(Range range);

  // The average when the step began, and the union of the ranges of its calls so far.
  struct TrackedStep {
    float range = 0, zero = 0;
    std::int64_t steps = 0;
    Range inputs;
  };

  std::optional<TrackedStep> step_;  // nothing before the step's first call
  at::Tensor range_;                 // hi - lo, averaged over steps
  at::Tensor zero_;                  // lo, likewise
  at::Tensor steps_;
};

}  // namespace bitcycle
