#pragma once

// A schedule is a value: a pure function from a step to a real-valued precision, rounded half to
// even to whole bits. It holds no counter, so a run that resumes at step t asks for bits(t) and
// nothing needs restoring. Larger schedules are composed of smaller ones.

#include <cstdint>
#include <functional>
#include <vector>

namespace bitcycle {

using Step = std::int64_t;

class Schedule {
 public:
  // Wraps a pure function; implicit so that compositions read well.
  Schedule(std::function<double(Step)> value) : value_(std::move(value)) {}

  // The precision before rounding. Steps below 0 are read as 0.
  double value(Step step) const { return value_(step < 0 ? 0 : step); }
  // Whole bits at a step: value rounded half to even. 0 means full precision (float).
  int bits(Step step) const;

 private:
  std::function<double(Step)> value_;
};

}  // namespace bitcycle
