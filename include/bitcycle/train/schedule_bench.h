#pragma once

// Measures what a precision schedule saves in time: a step at each width that its cycles visit,
// beside the static step at its upper bound and LibTorch's float step. All take turns in one
// process, and a cycle is the sum of its steps.

#include "bitcycle/schedule/spec.h"
#include "bitcycle/train/step_bench.h"

#include <vector>

namespace bitcycle {

struct ScheduleBenchOptions {
  ScheduleSpec forward;                 // of a run of two cycles
  int grad_bits = 8;                    // backward, 0 for float
  Backend backend = Backend::simulate;  // not automatic
  Step cycle_steps = 2000;
  int repeats = 7;
};

struct ScheduleBench {
  struct Row {
    int bits = 0;
    double share = 0;  // of the steps
    Timing step;
  };
  std::vector<Row> rows;  // lowest width first, float (0) last
  int static_bits = 0;    // the schedule's upper bound
  Timing static_step;
  Timing float_step;  // LibTorch
  Step cycle_steps = 0;
  double saving_spread = 0;  // of the savings of single repeats: median distance from their median

  double cycle_ms() const;
  double static_ms() const { return static_cast<double>(cycle_steps) * static_step.median; }
  double saving_percent() const { return 100 * (1 - cycle_ms() / static_ms()); }
};

// The steps to measure: at every width that the cycles visit, lowest first; the last is the static
// one, which is the highest width, measured once, where the cycles reach it.
StepBenchOptions steps_of(const ScheduleBenchOptions& options);
// What a measurement of these steps comes to.
ScheduleBench assess(const ScheduleBenchOptions& options, const StepBench& measured);
ScheduleBench bench_schedule(const BenchSubject& subject, const ScheduleBenchOptions& options);

}  // namespace bitcycle
