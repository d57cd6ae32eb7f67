#pragma once

// Measures training steps of Bitcycle at one or several widths beside LibTorch's float step and, if
// wanted, one in which low precision is simulated in the way of CPT's authors: all take turns in
// one process with the same threads and the same batch, so that whatever disturbs the machine
// disturbs all alike.

#include "bitcycle/config/backend.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/train/bench_subject.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bitcycle {

// The same bits throughout a run.
PrecisionRecipe static_precision(LayerBits bits);

struct StepBenchOptions {
  std::vector<LayerBits> bits;          // a step of each; one model takes them all, as in training
  Backend backend = Backend::simulate;  // not automatic
  std::optional<LayerBits> authors;     // also a step as CPT's authors simulate it, at these bits
  bool statistics = false;              // also a step in which the layers are looked at
  int warmup = 2;
  int repeats = 7;
};

// Milliseconds of repeated measurements.
struct Timing {
  double median = 0;
  double spread = 0;  // median distance from the median
};
Timing summarise(std::vector<double> milliseconds);

struct MeasuredStep {
  Timing time;
  std::vector<double> milliseconds;   // of each repeat
  std::int64_t activation_bytes = 0;  // most memory of a step beyond parameters and optimizer
};

struct StepBench {
  std::vector<MeasuredStep> steps;  // Bitcycle, as options.bits
  MeasuredStep float_step;          // LibTorch
  std::optional<MeasuredStep> authors_step;
  std::optional<MeasuredStep> looked_step;  // at the first of options.bits, files written
};

// `options.authors` needs a subject that has such a form.
StepBench bench_steps(const BenchSubject& subject, const StepBenchOptions& options);

}  // namespace bitcycle
