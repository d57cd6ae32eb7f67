#pragma once

// Measures a training step of Bitcycle beside LibTorch's float step: the two take turns in one
// process with the same threads and the same batch, so that whatever disturbs the machine disturbs
// both.

#include "bitcycle/config/backend.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/network/network.h"

#include <cstdint>
#include <vector>

namespace bitcycle {

// The same bits throughout a run.
PrecisionRecipe static_precision(LayerBits bits);

struct StepBenchOptions {
  std::int64_t batch = 128;
  LayerBits bits;
  Backend backend = Backend::simulate;  // not automatic
  int warmup = 2;
  int repeats = 7;
};

// Milliseconds of repeated measurements.
struct Timing {
  double median = 0;
  double spread = 0;  // median distance from the median
};
Timing summarise(std::vector<double> milliseconds);

struct StepBench {
  Timing step;                        // Bitcycle
  Timing float_step;                  // LibTorch
  std::int64_t activation_bytes = 0;  // most memory of a step beyond parameters and optimizer
  std::int64_t float_activation_bytes = 0;
};

StepBench bench_step(const Network& network, const StepBenchOptions& options);

}  // namespace bitcycle
