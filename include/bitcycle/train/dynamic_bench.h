#pragma once

// Measures training steps of a network whose gates choose the precision of each block for each
// sample, beside steps of the same network in static precision, in turns. What the gates choose is
// drawn at random, so that the mix is known; the gates themselves run and learn as in training.

#include "bitcycle/config/gate_objective.h"
#include "bitcycle/train/step_bench.h"

#include <string>
#include <vector>

namespace bitcycle {

struct DynamicBenchOptions {
  std::string model = "cifar_resnet38";
  std::int64_t batch = 128;
  DynamicRecipe precision;  // options and weight bits
  // How often each option is drawn, by block and option; empty: all equally often.
  ChoiceCounts choices = {};
  // Also steps in which these shares of all samples skip each block.
  std::vector<double> skipped = {};
  LayerBits static_bits = {8, 8, 8};
  int warmup = 2;
  int repeats = 7;
};

struct DynamicBench {
  MeasuredStep dynamic;
  MeasuredStep static_step;
  std::vector<MeasuredStep> skipping;  // as DynamicBenchOptions::skipped
};

// In integers. Throws Error(usage) for models without blocks, or where an option cannot be
// executed.
DynamicBench bench_dynamic(const DynamicBenchOptions& options);

}  // namespace bitcycle
